import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const directory = join(import.meta.dirname, 'native-fuzz')
const ADDON_BUILD = join(import.meta.dirname, '..', 'native-addon.mjs')
const SPARE_SECONDS = 120
/** Leaks are not looked for: V8 frees nothing at its end. */
const SANITISERS = { ASAN_OPTIONS: 'detect_leaks=0', UBSAN_OPTIONS: 'print_stacktrace=1' }

/** This machine cannot build with the sanitisers; the message says what is missing. */
export class NoSanitisers extends Error {}

type SanitisedAddon = { readonly library: string } | { readonly obstacle: string }

/** Builds the addon, or other C++ sources, with the address and undefined-behaviour sanitisers. */
function buildSanitised(file: string, sources: readonly string[] = []): SanitisedAddon {
  const code = `import { buildSanitizedAddon } from ${JSON.stringify(ADDON_BUILD)}
    console.log(JSON.stringify(buildSanitizedAddon(${JSON.stringify(file)}, ${JSON.stringify(sources)})))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  if (stdout === '') throw new Error(`the build of the sanitised addon failed: ${stderr}`)
  return JSON.parse(stdout) as SanitisedAddon
}

/** Runs Node with the sanitisers' library; `report` is what they, or the program, wrote on standard error. */
async function runSanitised(
  library: string,
  parameters: readonly string[],
  seconds: number,
): Promise<{ readonly ok: boolean; readonly output: string; readonly report: string }> {
  const env = { ...process.env, ...SANITISERS, LD_PRELOAD: library }
  const child = spawn(process.execPath, parameters, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 1000 * seconds })
  const [output, report, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { ok: code === 0, output, report }
}

/**
 * Fuzzes the native layer under the address and undefined-behaviour sanitisers: seeded calls with attacks, compared with the
 * portable path, pages and rings of any content, and blocks of recordings. A planted fault shows first that the sanitisers report. Throws `NoSanitisers`.
 */
async function run({ seed, count, seconds, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-native-fuzz-'))
  try {
    const planted = buildSanitised(join(folder, 'overflow.node'), [join(directory, 'overflow.cc')])
    if ('obstacle' in planted) throw new NoSanitisers(planted.obstacle)
    const built = buildSanitised(join(folder, 'media.node'))
    if ('obstacle' in built) throw new NoSanitisers(built.obstacle)
    const overflow = await runSanitised(
      planted.library,
      ['-e', `require(${JSON.stringify(join(folder, 'overflow.node'))})`],
      SPARE_SECONDS,
    )
    const isReported = !overflow.ok && overflow.report.includes('heap-buffer-overflow')
    progress(`the planted overflow was ${isReported ? 'reported' : 'not reported'}`)
    const limits = [seed, count, seconds].map(String)
    const fuzzer = [join(directory, 'fuzz-process.ts'), join(folder, 'media.node'), ...limits]
    const fuzzed = await runSanitised(built.library, fuzzer, seconds + SPARE_SECONDS)
    if (!fuzzed.ok) line({ proof: 'native-fuzz', report: fuzzed.report.slice(0, 20_000) })
    const figures = fuzzed.ok ? (JSON.parse(fuzzed.output) as object) : {}
    return { ok: isReported && fuzzed.ok, summary: { planted_overflow_reported: isReported, ...figures } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const proof: Proof = { name: 'native-fuzz', seconds: 600, count: Number.MAX_SAFE_INTEGER, run }
