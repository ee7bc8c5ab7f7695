/** An object of a PDF file, or a stream with its dictionary. */
type PdfObject = string | { readonly dictionary: string; readonly stream: Buffer }

/** A PDF file (ISO 32000-1, 7.5) of these objects, numbered from 1; the first one is the catalogue. */
export function pdfOf(objects: readonly PdfObject[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = pieces[0]!.length
  const write = (piece: Buffer) => {
    pieces.push(piece)
    length += piece.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(length)
    if (typeof object === 'string') write(Buffer.from(`${index + 1} 0 obj\n${object}\nendobj\n`))
    else {
      const { dictionary, stream } = object
      write(Buffer.from(`${index + 1} 0 obj\n<< ${dictionary} /Length ${stream.length} >>\nstream\n`))
      write(stream)
      write(Buffer.from('\nendstream\nendobj\n'))
    }
  }
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const xref = `xref\n0 ${size}\n0000000000 65535 f \n${rows}`
  write(Buffer.from(`${xref}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`))
  return Buffer.concat(pieces)
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'

/** A PDF file with one page for each content stream; `dictionary`: of the streams, such as their filter. */
export function pdfOfPages(contents: readonly Buffer[], dictionary = ''): Buffer {
  const first = 4
  const kids = contents.map((_content, index) => `${first + 2 * index} 0 R`).join(' ')
  const pages = contents.flatMap((stream, index): PdfObject[] => [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents ${first + 2 * index + 1} 0 R >>`,
    { dictionary, stream },
  ])
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`,
    FONT,
    ...pages,
  ])
}

/** A content stream that shows each text on a line of its own; an empty text is a gap between paragraphs. */
export function linesOf(texts: readonly string[]): Buffer {
  const shown = texts.map(text => (text === '' ? '0 -28 Td' : `0 -14 Td (${text}) Tj`)).join('\n')
  return Buffer.from(`BT /F1 12 Tf 50 750 Td\n${shown}\nET`)
}
