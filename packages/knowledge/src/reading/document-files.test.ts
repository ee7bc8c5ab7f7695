import { deflateSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { DocumentReader } from '../io/document-reader.ts'
import { docxOf, zipOf } from '../testing/docx-file.ts'
import { linesOf, pdfOf, pdfOfPages } from '../testing/pdf-file.ts'
import type { ReadOutcome } from './read-document.ts'

const PDF = 'application/pdf'
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const MIB = 1_048_576

const reader = new DocumentReader({ timeoutMs: 120_000 })
afterAll(() => reader.close())

const read = (media_type: string, content: Buffer) => reader.read({ title: 'Guide', media_type, content })

function textsOf(outcome: ReadOutcome): string[] {
  if (outcome.type === 'unreadable') throw new Error(outcome.error)
  return outcome.chunks.map(({ text }) => text)
}

function errorOf(outcome: ReadOutcome): string {
  if (outcome.type === 'read') throw new Error(`it was read: ${JSON.stringify(outcome.chunks).slice(0, 200)}`)
  return outcome.error
}

const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`
const FINE = docxOf(paragraph('The clinic opens at nine.'))

describe('a DOCX file', () => {
  it('a DOCX file is read as paragraphs under their headings, and rows of tables', async () => {
    const heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Hours</w:t></w:r></w:p>'
    const row = `<w:tbl><w:tr><w:tc>${paragraph('Monday')}</w:tc><w:tc>${paragraph('9 to 5')}</w:tc></w:tr></w:tbl>`
    const split = '<w:p><w:r><w:t>The cli</w:t></w:r><w:r><w:t>nic &amp; the lab open at nine.</w:t></w:r></w:p>'
    const [text] = textsOf(await read(DOCX, docxOf(`${heading}${split}${row}`)))
    expect(text).toContain('Hours')
    expect(text).toContain('The clinic & the lab open at nine.')
    expect(text).toContain('Monday; 9 to 5')
  })

  it.each([
    ['inflates to more than 64 MiB', () => docxOf(paragraph('a'.repeat(65 * MIB))), 'larger than 64 MiB'],
    [
      'inflates to more than its directory states',
      () => docxOf(paragraph('a'.repeat(65 * MIB)), { statedSize: 1000 }),
      'cannot be read',
    ],
    ['has no main part', () => zipOf([{ name: 'word/other.xml', content: 'x' }]), 'no part word/document.xml'],
    [
      'has too many parts',
      () => zipOf(Array.from({ length: 5002 }, (_none, index) => ({ name: `part-${index}`, content: '' }))),
      'more than 5000 parts',
    ],
    ['is cut off', () => FINE.subarray(0, FINE.length - 30), 'cannot be read'],
    ['contains no text', () => docxOf(paragraph('')), 'contains no text'],
  ])('that %s is unreadable', async (_name, file, error) => {
    expect(errorOf(await read(DOCX, file()))).toContain(error)
  })

  it('entities that its XML declares are not expanded', async () => {
    const content = `<!DOCTYPE w [<!ENTITY a "${'boom '.repeat(100)}"><!ENTITY b "&a;&a;&a;&a;">]><w:document>${paragraph('Hello &b; there')}</w:document>`
    const [text] = textsOf(await read(DOCX, zipOf([{ name: 'word/document.xml', content }])))
    expect(text).toContain('Hello')
    expect(text).not.toContain('boom')
  })
})

describe('a PDF file', () => {
  it('a PDF file is read page by page in paragraphs, with words joined that a line end divides', async () => {
    const pages = [
      linesOf(['The clinic opens at nine and of-', 'fers parking behind the house.', '', 'Dogs are welcome.']),
      linesOf(['Call us on Monday.']),
    ]
    const text = textsOf(await read(PDF, pdfOfPages(pages))).join('\n')
    expect(text).toContain('offers parking behind the house.')
    expect(text).toContain('Dogs are welcome.')
    expect(text).toContain('Call us on Monday.')
  })

  it('a page that draws itself again and again is read once', async () => {
    const form =
      '/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> /XObject << /X 4 0 R >> >>'
    const file = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> /XObject << /X 4 0 R >> >> /Contents 6 0 R >>',
      { dictionary: form, stream: Buffer.from('/X Do') },
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      { dictionary: '', stream: Buffer.concat([linesOf(['Hello there.']), Buffer.from('\n/X Do')]) },
    ])
    const outcome = await read(PDF, file)
    // A file that refers to itself may also be refused; it may not hold up the reader.
    if (outcome.type === 'read') expect(textsOf(outcome).join()).toContain('Hello there.')
  })

  it.each([
    [
      'states more than 2,000 pages',
      () =>
        pdfOf([
          '<< /Type /Catalog /Pages 2 0 R >>',
          '<< /Type /Pages /Kids [3 0 R] /Count 2001 >>',
          '<< /Type /Page /Parent 2 0 R >>',
        ]),
    ],
    [
      'has a tree of pages that contains itself',
      () => pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R] /Count 1 >>']),
    ],
    ['is cut off after its first line', () => Buffer.from('%PDF-1.7\n')],
    ['contains no text', () => pdfOfPages([Buffer.from('0 0 m 10 10 l S')])],
  ])('that %s is unreadable', async (_name, file) => {
    expect(errorOf(await read(PDF, file()))).not.toBe('')
  })

  it('one that inflates to 160 MiB is unreadable, and the next document is read', async () => {
    const limited = new DocumentReader({ timeoutMs: 120_000, externalMiB: 32 })
    try {
      const bomb = deflateSync(Buffer.alloc(160 * MIB, ' '))
      const outcome = await limited.read({
        title: 'Bomb',
        media_type: PDF,
        content: pdfOfPages([bomb], '/Filter /FlateDecode'),
      })
      expect(errorOf(outcome)).toBe('Reading the document took too much time or memory.')
      expect(textsOf(await limited.read({ title: 'Fine', media_type: DOCX, content: FINE }))).toHaveLength(1)
    } finally {
      await limited.close()
    }
  })
})

describe('the limits of reading', () => {
  it('a document that exceeds the heap is unreadable, and the next one is read', async () => {
    const limited = new DocumentReader({ timeoutMs: 120_000, heapMiB: 32 })
    try {
      const many = docxOf(paragraph('word').repeat(400_000))
      expect(errorOf(await limited.read({ title: 'Many', media_type: DOCX, content: many }))).toBe(
        'Reading the document took too much time or memory.',
      )
      expect(textsOf(await limited.read({ title: 'Fine', media_type: DOCX, content: FINE }))).toHaveLength(1)
    } finally {
      await limited.close()
    }
  })

  it('a document that exceeds the time is unreadable', async () => {
    const hasty = new DocumentReader({ timeoutMs: 1 })
    try {
      expect(errorOf(await hasty.read({ title: 'Fine', media_type: DOCX, content: FINE }))).toBe(
        'Reading the document took too much time or memory.',
      )
    } finally {
      await hasty.close()
    }
  })
})
