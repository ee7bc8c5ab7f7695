import { Parser } from 'htmlparser2'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'
import { type Block, BlockList } from './block.ts'

const MAIN_PART = 'word/document.xml'
/** A part that inflates to more is refused. */
const MAX_PART_BYTES = 64 * 1_048_576
const MAX_ENTRIES = 5000

/** The text of a DOCX file: paragraphs under their headings, rows of tables. Macros, images and links are not read. */
export async function blocksOfDocx(content: Uint8Array): Promise<Block[]> {
  const xml = await partOf(Buffer.from(content.buffer, content.byteOffset, content.byteLength), MAIN_PART)
  return blocksOfMainPart(xml)
}

function blocksOfMainPart(xml: string): Block[] {
  const list = new BlockList()
  let text = ''
  let level = 0
  let isText = false
  let cells: string[] | null = null
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'w:p') {
          text = ''
          level = 0
        } else if (name === 'w:pStyle') level = levelOf(attributes['w:val'] ?? '')
        else if (name === 'w:t') isText = true
        else if (name === 'w:tab' || name === 'w:br') text += ' '
        else if (name === 'w:tr') cells = []
      },
      ontext(piece) {
        if (isText) text += piece
      },
      onclosetag(name) {
        if (name === 'w:t') isText = false
        if (name === 'w:p') {
          if (cells !== null) cells.push(text)
          else if (level > 0) list.heading(level, text)
          else list.add(text)
          text = ''
        }
        if (name !== 'w:tr' || cells === null) return
        list.add(cells.filter(cell => cell.trim() !== '').join('; '))
        cells = null
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(xml)
  parser.end()
  return list.blocks
}

/** The level of a heading style ("Heading2", "Ttulo1", "Title"); 0: another style. */
function levelOf(style: string): number {
  if (style === 'Title') return 1
  const level = /^(?:heading|berschrift|t[ií]?tulo|titre)\s?([1-6])$/i.exec(style)?.[1]
  return level === undefined ? 0 : Number(level)
}

/** One part of the package as text. Rejects when there is none, or when it is too large. */
async function partOf(file: Buffer, name: string): Promise<string> {
  const zip = await opened(file)
  try {
    const entry = await entryOf(zip, name)
    if (entry.uncompressedSize > MAX_PART_BYTES) throw new Error('its text is larger than 64 MiB')
    return await textOf(zip, entry)
  } finally {
    zip.close()
  }
}

function opened(file: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) =>
    fromBuffer(file, { lazyEntries: true, validateEntrySizes: true }, (error, zip) =>
      error === null ? resolve(zip) : reject(error),
    ),
  )
}

function entryOf(zip: ZipFile, name: string): Promise<Entry> {
  return new Promise((resolve, reject) => {
    let entries = 0
    zip.on('entry', (entry: Entry) => {
      if (entry.fileName === name) resolve(entry)
      else if (++entries > MAX_ENTRIES) reject(new Error(`it has more than ${MAX_ENTRIES} parts`))
      else zip.readEntry()
    })
    zip.on('end', () => reject(new Error(`it has no part ${name}`)))
    zip.on('error', reject)
    zip.readEntry()
  })
}

function textOf(zip: ZipFile, entry: Entry): Promise<string> {
  return new Promise((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) return reject(error)
      const pieces: Buffer[] = []
      let bytes = 0
      stream.on('data', (piece: Buffer) => {
        bytes += piece.length
        // The size in the directory may be false.
        if (bytes > MAX_PART_BYTES) stream.destroy(new Error('its text is larger than 64 MiB'))
        else pieces.push(piece)
      })
      stream.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')))
      stream.on('error', reject)
    }),
  )
}
