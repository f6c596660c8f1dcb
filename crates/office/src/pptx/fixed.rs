//! The parts that every presentation has: a theme, a master and three layouts.

use crate::xml::DECLARATION;

pub(crate) const NAMESPACES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
     xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"";

/// Where the text of a slide is: left, top, width and height.
pub(super) const BODY: (u64, u64, u64, u64) = (838_200, 1_600_200, 10_515_600, 4_525_963);
const TITLE: (u64, u64, u64, u64) = (838_200, 365_125, 10_515_600, 1_100_000);
const COVER_TITLE: (u64, u64, u64, u64) = (1_143_000, 1_700_000, 9_906_000, 1_900_000);
const COVER_TEXT: (u64, u64, u64, u64) = (1_143_000, 3_750_000, 9_906_000, 1_400_000);

const EMPTY_TREE: &str = "<p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>";

fn place(
    id: u8,
    name: &str,
    kind: &str,
    (x, y, width, height): (u64, u64, u64, u64),
    body: &str,
    style: &str,
) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph {kind}/></p:nvPr>\
         </p:nvSpPr><p:spPr><a:xfrm><a:off x=\"{x}\" y=\"{y}\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr><p:txBody>{body}<a:lstStyle>{style}</a:lstStyle>\
         <a:p><a:r><a:rPr/><a:t>{name}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

pub(super) fn master() -> String {
    let title = place(2, "Title", "type=\"title\"", TITLE, "<a:bodyPr anchor=\"ctr\"><a:normAutofit/></a:bodyPr>", "");
    let body = place(3, "Content", "type=\"body\" idx=\"1\"", BODY, "<a:bodyPr><a:normAutofit/></a:bodyPr>", "");
    let mut levels = String::new();
    for level in 1_u32..=9 {
        let left = 285_750 * level;
        let size = [2_000, 1_800, 1_600][usize::try_from(level - 1).unwrap_or(2).min(2)];
        levels += &format!(
            "<a:lvl{level}pPr marL=\"{left}\" indent=\"-285750\" algn=\"l\"><a:spcBef><a:spcPts val=\"600\"/></a:spcBef>\
             <a:buFont typeface=\"Arial\"/><a:buChar char=\"&#8226;\"/><a:defRPr sz=\"{size}\"><a:solidFill><a:schemeClr val=\"tx1\"/>\
             </a:solidFill><a:latin typeface=\"+mn-lt\"/><a:ea typeface=\"+mn-ea\"/><a:cs typeface=\"+mn-cs\"/></a:defRPr></a:lvl{level}pPr>"
        );
    }
    format!(
        "{DECLARATION}<p:sldMaster {NAMESPACES}><p:cSld><p:bg><p:bgRef idx=\"1001\"><a:schemeClr val=\"bg1\"/></p:bgRef></p:bg><p:spTree>\
         {EMPTY_TREE}{title}{body}</p:spTree></p:cSld><p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" \
         accent2=\"accent2\" accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" \
         folHlink=\"folHlink\"/><p:sldLayoutIdLst><p:sldLayoutId id=\"2147483649\" r:id=\"rId1\"/><p:sldLayoutId id=\"2147483650\" \
         r:id=\"rId2\"/><p:sldLayoutId id=\"2147483651\" r:id=\"rId3\"/></p:sldLayoutIdLst><p:txStyles><p:titleStyle>\
         <a:lvl1pPr algn=\"l\"><a:spcBef><a:spcPct val=\"0\"/></a:spcBef><a:buNone/><a:defRPr sz=\"3200\" b=\"1\"><a:solidFill>\
         <a:schemeClr val=\"tx2\"/></a:solidFill><a:latin typeface=\"+mj-lt\"/><a:ea typeface=\"+mj-ea\"/><a:cs typeface=\"+mj-cs\"/>\
         </a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>"
    )
}

/// A cover, a title with text, and a title alone.
pub(super) fn layouts() -> [String; 3] {
    let layout = |kind: &str, name: &str, shapes: &str| {
        format!(
            "{DECLARATION}<p:sldLayout {NAMESPACES} type=\"{kind}\" preserve=\"1\"><p:cSld name=\"{name}\"><p:spTree>{EMPTY_TREE}{shapes}\
             </p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
        )
    };
    let middle = |size: u32, color: &str| {
        format!(
            "<a:lvl1pPr marL=\"0\" indent=\"0\" algn=\"ctr\"><a:buNone/><a:defRPr sz=\"{size}\"><a:solidFill><a:schemeClr val=\"{color}\"/>\
             </a:solidFill></a:defRPr></a:lvl1pPr>"
        )
    };
    let fits = "<a:bodyPr anchor=\"ctr\"><a:normAutofit/></a:bodyPr>";
    let cover = [
        place(
            2,
            "Title",
            "type=\"ctrTitle\"",
            COVER_TITLE,
            "<a:bodyPr anchor=\"b\"><a:normAutofit/></a:bodyPr>",
            &middle(4_400, "tx2"),
        ),
        place(
            3,
            "Subtitle",
            "type=\"subTitle\" idx=\"1\"",
            COVER_TEXT,
            "<a:bodyPr><a:normAutofit/></a:bodyPr>",
            &middle(2_200, "tx1"),
        ),
    ];
    let title = place(2, "Title", "type=\"title\"", TITLE, fits, "");
    let text = place(3, "Content", "idx=\"1\"", BODY, "<a:bodyPr><a:normAutofit/></a:bodyPr>", "");
    [
        // In the order of the numbers that `SlidePlan::layout` gives.
        layout("title", "Title Slide", &cover.concat()),
        layout("obj", "Title and Content", &format!("{title}{text}")),
        layout("titleOnly", "Title Only", &title),
    ]
}

pub(super) fn notes_master() -> String {
    let image = "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide Image\"/><p:cNvSpPr><a:spLocks noGrp=\"1\" noRot=\"1\" noChangeAspect=\"1\"/>\
         </p:cNvSpPr><p:nvPr><p:ph type=\"sldImg\" idx=\"2\"/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x=\"685800\" y=\"1143000\"/>\
         <a:ext cx=\"5486400\" cy=\"3086100\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom><a:noFill/><a:ln w=\"12700\">\
         <a:solidFill><a:prstClr val=\"black\"/></a:solidFill></a:ln></p:spPr></p:sp>";
    let text =
        place(3, "Notes", "type=\"body\" idx=\"1\"", (685_800, 4_400_550, 5_486_400, 3_600_450), "<a:bodyPr/>", "");
    format!(
        "{DECLARATION}<p:notesMaster {NAMESPACES}><p:cSld><p:bg><p:bgRef idx=\"1001\"><a:schemeClr val=\"bg1\"/></p:bgRef></p:bg><p:spTree>\
         {EMPTY_TREE}{image}{text}</p:spTree></p:cSld><p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" \
         accent2=\"accent2\" accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" \
         folHlink=\"folHlink\"/></p:notesMaster>"
    )
}

pub(super) fn theme() -> String {
    let colors = [
        ("dk1", "202124"),
        ("lt1", "FFFFFF"),
        ("dk2", "1F3864"),
        ("lt2", "EEF1F6"),
        ("accent1", "2F5597"),
        ("accent2", "C55A11"),
        ("accent3", "548235"),
        ("accent4", "BF9000"),
        ("accent5", "7030A0"),
        ("accent6", "0E8A87"),
        ("hlink", "0563C1"),
        ("folHlink", "954F72"),
    ];
    let colors: String =
        colors.iter().map(|(name, color)| format!("<a:{name}><a:srgbClr val=\"{color}\"/></a:{name}>")).collect();
    let font = "<a:latin typeface=\"Calibri\"/><a:ea typeface=\"\"/><a:cs typeface=\"\"/>";
    // The schema wants three of each: subtle, moderate and intense.
    let fill = "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>".repeat(3);
    let line = "<a:ln w=\"9525\"><a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill></a:ln>".repeat(3);
    let effect = "<a:effectStyle><a:effectLst/></a:effectStyle>".repeat(3);
    format!(
        "{DECLARATION}<a:theme xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" name=\"Plain\"><a:themeElements>\
         <a:clrScheme name=\"Plain\">{colors}</a:clrScheme><a:fontScheme name=\"Plain\"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}\
         </a:minorFont></a:fontScheme><a:fmtScheme name=\"Plain\"><a:fillStyleLst>{fill}</a:fillStyleLst><a:lnStyleLst>{line}</a:lnStyleLst>\
         <a:effectStyleLst>{effect}</a:effectStyleLst><a:bgFillStyleLst>{fill}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )
}
