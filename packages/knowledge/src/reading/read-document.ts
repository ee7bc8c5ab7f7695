import type { Chunk } from '@parley/store'
import type { Block } from './block.ts'
import { chunksOf } from './chunks.ts'
import { blocksOfHtml } from './html.ts'
import { blocksOfMarkdown } from './markdown.ts'
import { blocksOfText } from './plain-text.ts'

export interface ReadTask {
  readonly title: string
  readonly media_type: string
  readonly content: Uint8Array
}

/** The passages of a document, or why it cannot be read, in a sentence for people. */
export type ReadOutcome =
  | { readonly type: 'read'; readonly chunks: readonly Chunk[] }
  | { readonly type: 'unreadable'; readonly error: string }

/** Most characters that are read from a document. */
const MAX_CHARACTERS = 4_000_000
/** Most passages of a document: each is embedded, and repeats its headings. */
const MAX_PASSAGES = 20_000

/** Reads a document and cuts it into passages. Runs in a thread of its own: a hostile file may use all of its time and memory. */
export async function readDocument({ title, media_type, content }: ReadTask): Promise<ReadOutcome> {
  let blocks: readonly Block[]
  try {
    blocks = await blocksOf(media_type, content)
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    return { type: 'unreadable', error: `The ${media_type} content cannot be read: ${what}`.slice(0, 500) }
  }
  const length = blocks.reduce((sum, block) => sum + block.text.length, 0)
  if (length === 0)
    return { type: 'unreadable', error: 'The document contains no text; scanned pages need text recognition first.' }
  if (length > MAX_CHARACTERS)
    return { type: 'unreadable', error: `The document has more than ${MAX_CHARACTERS} characters; split it.` }
  const chunks = chunksOf(title, blocks)
  if (chunks.length > MAX_PASSAGES)
    return { type: 'unreadable', error: `The document has more than ${MAX_PASSAGES} passages; split it.` }
  return { type: 'read', chunks }
}

async function blocksOf(mediaType: string, content: Uint8Array): Promise<readonly Block[]> {
  switch (mediaType) {
    case 'application/pdf': {
      const { blocksOfPdf } = await import('./pdf.ts')
      return blocksOfPdf(content, MAX_CHARACTERS)
    }
    case 'application/vnd.openxmlformats-officedocument.wordprocessingml.document': {
      const { blocksOfDocx } = await import('./docx.ts')
      return blocksOfDocx(content)
    }
    case 'text/html':
      return blocksOfHtml(textOf(content))
    case 'text/markdown':
      return blocksOfMarkdown(textOf(content))
    default:
      return blocksOfText(textOf(content))
  }
}

function textOf(content: Uint8Array): string {
  return new TextDecoder().decode(content)
}
