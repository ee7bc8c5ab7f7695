import { Parser } from 'htmlparser2'
import { type Block, BlockList } from './block.ts'

/** Elements whose content is not shown, or is not about the page's subject. */
const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'nav', 'iframe', 'object', 'select'])
/** Elements that begin and end a block. */
const BLOCKS = new Set(
  'address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form header hr li main ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
)
const HEADING = /^h([1-6])$/

/** The shown text of HTML, in blocks. Nothing that it refers to is fetched. */
export function blocksOfHtml(html: string): Block[] {
  const list = new BlockList()
  let text = ''
  let skipping = 0
  let cells: string[] | null = null
  const flush = () => {
    if (cells === null) list.add(text)
    else if (text.trim() !== '') cells.push(text)
    text = ''
  }
  const parser = new Parser(
    {
      onopentagname(name) {
        if (SKIPPED.has(name)) skipping++
        if (BLOCKS.has(name) || HEADING.test(name)) flush()
        if (name === 'tr') cells = []
        if (name === 'br') text += ' '
      },
      ontext(piece) {
        if (skipping === 0) text += piece
      },
      onclosetag(name) {
        if (SKIPPED.has(name)) skipping = Math.max(0, skipping - 1)
        const heading = HEADING.exec(name)
        if (heading !== null) {
          list.heading(Number(heading[1]), text)
          text = ''
        } else if (BLOCKS.has(name)) flush()
        if (name !== 'tr' || cells === null) return
        const row = cells.join('; ')
        cells = null
        list.add(row)
      },
    },
    { decodeEntities: true },
  )
  parser.write(html)
  parser.end()
  flush()
  return list.blocks
}
