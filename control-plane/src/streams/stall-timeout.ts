/** Yields the pieces on demand; calls `onStalled` when the reader has not taken a piece within `stalledMs`. */
export async function* withStallTimeout(
  pieces: AsyncIterable<string>,
  stalledMs: number,
  onStalled: () => void,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    const timer = setTimeout(onStalled, stalledMs)
    try {
      yield Buffer.from(piece)
    } finally {
      clearTimeout(timer)
    }
  }
}
