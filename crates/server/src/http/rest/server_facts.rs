//! What the API says of itself: its status, certificate and description.

use axum::{http::Method, response::Response};
use lapidary_config::PatchFormat;
use lapidary_plugin::LAPIDARY;
use serde_json::{Value, json};

use super::{
    RestApi,
    api_error::{ApiError, body_response, json_response},
    rest_caller::RestCaller,
};

/// The versions of the plugin whose API this is. Programs choose the format of patches by it.
const VERSION: &str = "5.1.0";
const OLDER_VERSION: &str = "4.1.7";
/// An app that has all that the API is about.
const OBSIDIAN: &str = "1.12.7";

const CERTIFICATE: &str = "/obsidian-local-rest-api.crt";
const OPENAPI: &str = include_str!("openapi.yaml");

impl RestApi {
    /// The answers that need no key.
    pub(super) fn open_to_all(&self, method: &Method, path: &str, caller: Option<&RestCaller>) -> Option<Response> {
        // Everything here is read without a key, so nothing may have an effect.
        if ![Method::GET, Method::HEAD].contains(method) {
            return None;
        }
        match path {
            "/" => Some(json_response(&self.status(caller.is_some()))),
            "/openapi.yaml" => Some(body_response(OPENAPI, "application/yaml; charset=utf-8")),
            CERTIFICATE => {
                let certificate = self.0.certificate.as_ref().map(|kept| kept.certificate.clone());
                let kind = "application/octet-stream; filename=\"obsidian-local-rest-api.crt\"";
                // Served in plain text there is no certificate to offer.
                Some(certificate.map_or_else(
                    || axum::response::IntoResponse::into_response(ApiError::not_found()),
                    |certificate| body_response(certificate, kind),
                ))
            }
            _ => None,
        }
    }

    fn status(&self, is_known: bool) -> Value {
        // Programs choose by the version how they write patches, so the setting decides which one is named.
        let version = match self.0.settings.patch_format {
            PatchFormat::Instruction => VERSION,
            PatchFormat::Headers => OLDER_VERSION,
        };
        let mut status = json!({
            "status": "OK",
            "manifest": {
                "id": "obsidian-local-rest-api",
                "name": "Local REST API",
                "version": version,
                "minAppVersion": "0.12.0",
                // Programs only look at the id and the version; a person sees here that it is not the app.
                "description": concat!("Served by Lapidary ", env!("CARGO_PKG_VERSION"), " without the app."),
                "author": LAPIDARY,
                "authorUrl": env!("CARGO_PKG_HOMEPAGE"),
                "isDesktopOnly": true,
            },
            "versions": { "obsidian": OBSIDIAN, "self": version },
            "service": "Obsidian Local REST API",
            "authenticated": is_known,
        });
        // A stranger learns neither about the certificate nor about extensions.
        if is_known {
            if let Some(kept) = &self.0.certificate {
                status["certificateInfo"] = json!({ "validityDays": kept.valid_days, "regenerateRecommended": false });
            }
            status["apiExtensions"] = json!([]);
        }
        status
    }
}
