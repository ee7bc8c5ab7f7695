import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { authOperations, operations, streams, toOpenApi } from '@parley/contract'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const run = promisify(execFile)

/** Pinned releases: another one may warn of other things. The third one runs a Java program of its release from Maven Central. */
const PACKAGES = ['openapi-typescript@7.13.0', 'typescript@5.9.3', '@openapitools/openapi-generator-cli@2.41.0']
const GENERATOR_RELEASE = '7.25.0'
/** What the generator for Go says of every document of OpenAPI 3.1, and of the path parameter `type`. */
const SAID_ANYWAY =
  /OpenAPI 3\.1 support is still in beta|Failed to get the schema name: null|type \(reserved word\) cannot be used/

interface Generated {
  readonly generator: string
  readonly warnings: readonly string[]
  readonly missing: readonly string[]
  /** What a compiler finds wrong with the client. */
  readonly errors: string
}

/**
 * Generates clients of the OpenAPI document by openapi-typescript and by openapi-generator (Go): both without a warning, with every
 * operation, and both compile. Needs npm, Java and Go, and access to npm and Maven Central.
 */
async function prove({ seconds, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-generators.'))
  try {
    const all = [...operations, ...streams, ...Object.values(authOperations)]
    writeFileSync(join(directory, 'openapi.json'), JSON.stringify(toOpenApi(all, 'https://parley.example')))
    writeFileSync(
      join(directory, 'openapitools.json'),
      JSON.stringify({ 'generator-cli': { version: GENERATOR_RELEASE } }),
    )
    const command: Command = (program, ...args) => runIn(directory, seconds, program, args)
    progress('installing the generators')
    await command('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', directory, ...PACKAGES)
    const ids = all.map(({ id }) => id)
    let faults = 0
    for (const generate of [byOpenapiTypescript, byOpenapiGenerator]) {
      const found = await generate(directory, command, ids)
      line(found)
      faults += found.warnings.length + found.missing.length + (found.errors === '' ? 0 : 1)
    }
    return { ok: faults === 0, summary: { operations: ids.length, faults } }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

type Command = (program: string, ...args: string[]) => Promise<{ readonly ok: boolean; readonly said: string }>

async function runIn(cwd: string, seconds: number, program: string, args: readonly string[]) {
  const limits = { cwd, timeout: seconds * 1000, maxBuffer: 2 ** 26 }
  try {
    const { stdout, stderr } = await run(program, args, limits)
    return { ok: true, said: `${stdout}${stderr}` }
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    return { ok: false, said: `${stdout}${stderr}` || message }
  }
}

async function byOpenapiTypescript(directory: string, command: Command, ids: readonly string[]): Promise<Generated> {
  const bin = join(directory, 'node_modules/.bin')
  const { ok, said } = await command(join(bin, 'openapi-typescript'), 'openapi.json', '-o', 'types.d.ts')
  if (!ok) return { generator: 'openapi-typescript', warnings: [said], missing: ids, errors: '' }
  const types = readFileSync(join(directory, 'types.d.ts'), 'utf8')
  const compiled = await command(join(bin, 'tsc'), '--noEmit', '--strict', 'types.d.ts')
  return {
    generator: 'openapi-typescript',
    warnings: said.split('\n').filter(text => /warn|⚠/i.test(text)),
    missing: ids.filter(id => !types.includes(`operations["${id}"]`)),
    errors: compiled.ok ? '' : compiled.said,
  }
}

async function byOpenapiGenerator(directory: string, command: Command, ids: readonly string[]): Promise<Generated> {
  const program = join(directory, 'node_modules/.bin/openapi-generator-cli')
  const options = ['-i', 'openapi.json', '-g', 'go', '-o', 'client', '--additional-properties=enumClassPrefix=true']
  const { ok, said } = await command(program, 'generate', ...options)
  if (!ok) return { generator: 'openapi-generator', warnings: [said.slice(-2000)], missing: ids, errors: '' }
  const readme = readFileSync(join(directory, 'client/README.md'), 'utf8')
  const built = await command('go', 'build', '-C', join(directory, 'client'), './...')
  return {
    generator: 'openapi-generator',
    warnings: said.split('\n').filter(text => /\b(WARN|ERROR)\b/.test(text) && !SAID_ANYWAY.test(text)),
    missing: ids.filter(id => !readme.includes(`#${pascal(id).toLowerCase()})`)),
    errors: built.ok ? '' : built.said.slice(0, 2000),
  }
}

/** `runs.create`: `RunsCreate`. */
function pascal(id: string): string {
  return id
    .split(/[^A-Za-z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

export const proof: Proof = { name: 'generators', seconds: 600, count: 1, run: prove }
