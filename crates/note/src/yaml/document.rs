//! A YAML document with its anchors and comments.

use std::ops::Range;

use super::{NodeContent, YamlNode, YamlValue};

/// A YAML text with everything an edit must know to be safe.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct YamlDocument {
    /// `None` if the text has no value at all.
    pub(crate) root: Option<YamlNode>,
    pub(crate) comments: Vec<Range<usize>>,
    /// The number of each anchor, and the node that it names.
    pub(super) anchors: Vec<(usize, Range<usize>)>,
    /// Each `*name`, and the number of its anchor.
    pub(super) aliases: Vec<(usize, Range<usize>)>,
}

impl YamlDocument {
    /// The root, which is null in an empty text.
    pub(super) fn into_node(self) -> YamlNode {
        self.root.unwrap_or(YamlNode { span: 0..0, content: NodeContent::Scalar(YamlValue::Null) })
    }

    pub(crate) fn to_value(&self) -> YamlValue {
        self.root.as_ref().map_or(YamlValue::Null, YamlNode::to_value)
    }

    /// Whether an alias refers to this very node.
    pub(crate) fn is_used(&self, node: &YamlNode) -> bool {
        let names = |(_, named): &&(usize, Range<usize>)| *named == node.span;
        self.anchors.iter().filter(names).any(|(anchor, _)| self.aliases.iter().any(|(id, _)| id == anchor))
    }

    /// Whether an alias outside a node refers to that node or to something in it.
    pub(crate) fn is_used_elsewhere(&self, node: &YamlNode) -> bool {
        let defines = |id: usize| self.anchors.iter().any(|(anchor, named)| *anchor == id && holds(node, named));
        // Aliases within the node go with it.
        self.aliases.iter().any(|(id, alias)| !holds(node, alias) && defines(*id))
    }

    /// Whether moving the node would separate an alias from its anchor.
    pub(crate) fn has_anchors(&self, node: &YamlNode) -> bool {
        self.anchors.iter().chain(&self.aliases).any(|(_, span)| holds(node, span))
    }
}

fn holds(node: &YamlNode, span: &Range<usize>) -> bool {
    node.span.start <= span.start && span.end <= node.span.end
}
