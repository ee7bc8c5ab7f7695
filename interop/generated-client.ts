import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { AtTestEnd } from './clean-up.ts'

const GENERATOR = 'openapi-python-client'
/** Pinned release: another one may warn of other things. `.ci/run` installs it. */
export const GENERATOR_PACKAGE = `${GENERATOR}==0.29.1`
const LIMIT = { timeout: 240_000, maxBuffer: 2 ** 24 }
const run = promisify(execFile)

/** The folder of the generator and of the Python that has what the client needs; undefined: it is not installed. */
export function generatorFolder(): string | undefined {
  return (process.env.PATH ?? '').split(delimiter).find(folder => isExecutable(join(folder, GENERATOR)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Generates a Python client of the OpenAPI document. Returns its folder and what the generator said. */
export async function generateClient(
  document: string,
  atTestEnd: AtTestEnd,
): Promise<{ readonly folder: string; readonly said: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-client.'))
  atTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'openapi.json')
  writeFileSync(path, document)
  const folder = join(directory, 'client')
  const program = join(generatorFolder()!, GENERATOR)
  const { stdout, stderr } = await run(program, ['generate', '--path', path, '--output-path', folder], LIMIT)
  return { folder, said: `${stdout}${stderr}` }
}

/** Runs `generated-client/use.py` with the client in `folder`; returns what it printed. */
export async function runGeneratedClient(folder: string, args: readonly string[]): Promise<unknown> {
  const script = join(import.meta.dirname, 'generated-client/use.py')
  const python = join(dirname(join(generatorFolder()!, GENERATOR)), 'python3')
  const { stdout } = await run(python, [script, ...args], { ...LIMIT, env: { ...process.env, PYTHONPATH: folder } })
  return JSON.parse(stdout)
}
