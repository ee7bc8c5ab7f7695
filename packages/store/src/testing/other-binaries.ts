import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { PostgresBinaries } from '../io/postgres-binaries.ts'

/** Folder of the server programs that tests use instead of the installed ones. */
export const OTHER_BINARIES = 'PARLEY_TEST_POSTGRES'

/** Those of another version, in the folder that `npm run proof -- postgres` names. */
export function otherBinaries(): PostgresBinaries | undefined {
  const { [OTHER_BINARIES]: folder } = process.env
  if (folder === undefined) return undefined
  const version = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  const hasBuiltinLocales = Number(/\d+/.exec(version)) >= 17
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), hasBuiltinLocales }
}
