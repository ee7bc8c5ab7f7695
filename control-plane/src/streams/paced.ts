/** The pieces as they are read; `onStalled` when one has not been read for so long. */
export async function* paced(
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
