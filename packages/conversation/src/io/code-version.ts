import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What decides in a conversation, in the folder of the packages. */
const CODE = ['kernel/src', 'nodes/src', 'flow/src', 'dialogue/src', 'conversation/src', 'engine/src/voice']
/** Words by which turns are judged. */
const LEXICONS = ['dialogue/src/lexicon', 'dialogue/src/language', 'dialogue/src/answer', 'dialogue/src/question']

let known: { readonly code: string; readonly lexicon: string } | null = null

/** Digests of the program that decides in conversations, and of its lexicons: of the source files, which are read once. */
export function codeVersions(): { readonly code: string; readonly lexicon: string } {
  known ??= { code: digestOfFiles(CODE), lexicon: digestOfFiles(LEXICONS) }
  return known
}

function digestOfFiles(folders: readonly string[]): string {
  const hash = createHash('sha256')
  for (const folder of folders)
    for (const file of filesIn(folder))
      hash.update(`${folder}/${file}\0`).update(readFileSync(join(pathOf(folder), file)))
  return hash.digest('hex').slice(0, 16)
}

function filesIn(folder: string): string[] {
  const files = readdirSync(pathOf(folder), { recursive: true, encoding: 'utf8' })
  return files.filter(file => file.endsWith('.ts') && !/\.(test|fixture)\.ts$|(^|\/)testing\//.test(file)).sort()
}

function pathOf(folder: string): string {
  return fileURLToPath(new URL(`../../../${folder}`, import.meta.url))
}
