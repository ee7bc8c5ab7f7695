import { getDocumentProxy } from 'unpdf'
import { type Block, BlockList } from './block.ts'

const MAX_PAGES = 2000
/** Lines that are so far apart, in heights of their text, belong to different paragraphs. */
const PARAGRAPH_GAP = 1.6

interface PdfText {
  readonly str: string
  readonly hasEOL: boolean
  readonly height: number
  /** The last member is the distance from the bottom of the page. */
  readonly transform: readonly number[]
}

/** The text of a PDF, in paragraphs; reading stops after `maxCharacters`. Scripts, forms, images and fonts are not loaded. */
export async function blocksOfPdf(content: Uint8Array, maxCharacters: number): Promise<Block[]> {
  const pdf = await getDocumentProxy(content, {
    useSystemFonts: false,
    disableFontFace: true,
    stopAtErrors: false,
    maxImageSize: 1,
    enableXfa: false,
  })
  const list = new BlockList()
  try {
    if (pdf.numPages > MAX_PAGES) throw new Error(`it has more than ${MAX_PAGES} pages`)
    let characters = 0
    for (let number = 1; number <= pdf.numPages && characters <= maxCharacters; number++) {
      const page = await pdf.getPage(number)
      const { items } = await page.getTextContent()
      for (const paragraph of paragraphsOf(items.filter(item => 'str' in item) as PdfText[])) {
        characters += paragraph.length
        list.add(paragraph)
      }
      page.cleanup()
    }
  } finally {
    await pdf.loadingTask.destroy()
  }
  return list.blocks
}

function paragraphsOf(items: readonly PdfText[]): string[] {
  const paragraphs: string[] = []
  let text = ''
  let lastY: number | null = null
  for (const { str, hasEOL, height, transform } of items) {
    const y = transform[5] ?? 0
    const isApart = lastY !== null && str.trim() !== '' && Math.abs(lastY - y) > PARAGRAPH_GAP * Math.max(height, 4)
    if (isApart) {
      paragraphs.push(text)
      text = ''
    }
    // A word that is hyphenated at the end of a line is joined again.
    text = /\p{L}-$/u.test(text) && /^\p{Ll}/u.test(str) ? text.slice(0, -1) + str : text + str
    if (hasEOL && !/\p{L}-$/u.test(text)) text += ' '
    if (str.trim() !== '') lastY = y
  }
  return [...paragraphs, text]
}
