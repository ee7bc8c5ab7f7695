import { type Block, BlockList } from './block.ts'

/** Paragraphs of plain text, which blank lines separate. */
export function blocksOfText(text: string): Block[] {
  const list = new BlockList()
  for (const paragraph of text.split(/\r?\n[ \t]*\r?\n/)) list.add(paragraph)
  return list.blocks
}
