import { crc32, deflateRawSync } from 'node:zlib'

/** A part of a package, as its directory describes it. */
interface Part {
  readonly name: string
  readonly content: string | Buffer
  /** The size that the directory states; default that of `content`. */
  readonly statedSize?: number
}

/** A ZIP file (APPNOTE.TXT 4.3) with these parts, deflated. */
export function zipOf(parts: readonly Part[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, statedSize } of parts) {
    const data = Buffer.from(content)
    const packed = deflateRawSync(data)
    // Version, flags, method (deflate), time and date, checksum, sizes, lengths of name and extra field.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(statedSize ?? data.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, entries, end])
}

/** A DOCX file whose body is this WordprocessingML. */
export function docxOf(body: string, stated: Pick<Part, 'statedSize'> = {}): Buffer {
  const namespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
  const content = `<?xml version="1.0"?><w:document xmlns:w="${namespace}"><w:body>${body}</w:body></w:document>`
  return zipOf([
    { name: '[Content_Types].xml', content: '<Types/>' },
    { name: 'word/document.xml', content, ...stated },
  ])
}
