import { createReadStream } from 'node:fs'
import { basename, extname } from 'node:path'
import { type ExportFile, readExportFile } from '@parley/flow'
import { printable } from './agents-text.ts'

/** Size limit of the API, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024

export interface ExportOnDisk extends ExportFile {
  /** The file as it was named on the command line. */
  readonly name: string
  /** A name for an agent whose file gives none: that of the file without its extension. */
  readonly title: string
}

/** Reads an export of any shape. `-` is standard input. */
export async function readExportOnDisk(file: string): Promise<ExportOnDisk> {
  const read = readExportFile(parsed(file, await readText(file)))
  if (!read.ok) throw new Error(`${file} ${read.message}`)
  return { ...read.file, name: file, title: file === '-' ? 'Imported agent' : basename(file, extname(file)) }
}

function parsed(file: string, text: string): unknown {
  try {
    // Some editors write a byte order mark, which is no JSON.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new Error(`${file} is not JSON: ${printable(error instanceof Error ? error.message : String(error))}`)
  }
}

async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const stream = file === '-' ? process.stdin : createReadStream(file)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`${file} is longer than ${MAX_BYTES} bytes, the limit of the API`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
