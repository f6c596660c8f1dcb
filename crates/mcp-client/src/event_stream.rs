//! Server-sent events, as far as an answer over HTTP needs them: the data of each.

/// Collects events from the parts of a stream.
#[derive(Default)]
pub(crate) struct EventStream {
    /// The line that has not ended yet.
    line: Vec<u8>,
    data: Vec<u8>,
}

impl EventStream {
    /// The data of the events that end in this part.
    pub(crate) fn take(&mut self, part: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        for byte in part {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            // Lines of a stream may end either way.
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if line.is_empty() {
                let data = std::mem::take(&mut self.data);
                // An event without data, such as a heartbeat, says nothing.
                if !data.is_empty() {
                    events.push(data);
                }
            } else if let Some(data) = line.strip_prefix(b"data:") {
                // Several lines of data are one text.
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                // One blank after the colon belongs to the format, further ones to the data.
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = b": hello\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid: 4\ndata:x\n\ndata: unfinished";
        for size in 1..stream.len() {
            let mut events = EventStream::default();
            let found: Vec<Vec<u8>> = stream.chunks(size).flat_map(|part| events.take(part)).collect();
            assert_eq!(found, [b"{\"a\":\n1}".to_vec(), b"x".to_vec()], "{size}");
        }
    }
}
