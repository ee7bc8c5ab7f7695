import { marked, type Token, type Tokens } from 'marked'
import { type Block, BlockList } from './block.ts'
import { blocksOfHtml } from './html.ts'

/** Paragraphs, list items and table rows of Markdown (GFM). */
export function blocksOfMarkdown(text: string): Block[] {
  const list = new BlockList()
  for (const token of marked.lexer(text)) addToken(list, token)
  return list.blocks
}

function addToken(list: BlockList, token: Token): void {
  switch (token.type) {
    case 'heading':
      return list.heading((token as Tokens.Heading).depth, plain(token))
    case 'list':
      for (const item of (token as Tokens.List).items) list.add(plain(item))
      return
    case 'table': {
      const { header, rows } = token as Tokens.Table
      for (const row of rows)
        list.add(row.map((cell, column) => `${plain(header[column] ?? null)}: ${plain(cell)}`).join('; '))
      return
    }
    case 'blockquote':
      for (const inner of (token as Tokens.Blockquote).tokens) addToken(list, inner)
      return
    case 'html':
      for (const block of blocksOfHtml((token as Tokens.HTML).text)) list.add(block.text)
      return
    case 'space':
    case 'hr':
    case 'def':
      return
    default:
      return list.add(plain(token))
  }
}

/** The text of a token without its markup. */
function plain(token: { readonly tokens?: Token[] | undefined; readonly text?: string } | Token | null): string {
  if (token === null) return ''
  if ('tokens' in token && token.tokens !== undefined && token.tokens.length > 0)
    return token.tokens.map(inner => plain(inner)).join(token.tokens.some(isBlock) ? ' ' : '')
  if ('type' in token && token.type === 'br') return ' '
  return 'text' in token && typeof token.text === 'string' ? token.text : ''
}

function isBlock({ type }: Token): boolean {
  return type === 'list' || type === 'paragraph' || type === 'space'
}
