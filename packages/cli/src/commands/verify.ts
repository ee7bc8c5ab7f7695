import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Certificate } from '@parley/contract'
import { checkCertificate, type PublicSigningKey } from '@parley/store'
import { readSettings } from '../environment.ts'
import { KEYS_FILE } from '../signing-keys-file.ts'
import { parseCommand, UsageError } from '../usage.ts'

const USAGE = 'parley verify CERTIFICATE [--keys FILE]'
const HELP = [
  '',
  'Checks the signature of a certificate ("certificate" of a publication), without any connection. FILE has the public keys of the',
  `platform that issued it, from /.well-known/parley-keys.json; default: ${KEYS_FILE} beside the certificate, else in PARLEY_HOME.`,
  'Exit code 0: the certificate is valid; 1: it is not.',
]

/** Exit code 0: the certificate is valid; 1: it is not, or a file cannot be read. */
export async function verify(args: string[]): Promise<number> {
  const { text, exitCode } = await verifyFile(args, () => readSettings(process.env).home)
  process.stdout.write(text)
  return exitCode
}

/** What `parley verify` prints, and its exit code. */
export async function verifyFile(
  args: string[],
  homeOf: () => string,
): Promise<{ readonly text: string; readonly exitCode: number }> {
  const { values, positionals } = parseCommand(args, { keys: { type: 'string' } }, USAGE, HELP)
  const [file] = positionals
  if (file === undefined || positionals.length !== 1) throw new UsageError(`usage: ${USAGE}`)
  const certificate = await readFile(file, 'utf8')
  const checked = checkCertificate(certificate.trim(), await readKeys(values.keys, dirname(file), homeOf))
  if (!checked.isValid) return { text: `not valid: ${checked.reason}\n`, exitCode: 1 }
  return { text: described(checked.certificate), exitCode: 0 }
}

async function readKeys(named: string | undefined, beside: string, homeOf: () => string): Promise<PublicSigningKey[]> {
  if (named !== undefined) return keysIn(await readFile(named, 'utf8'), named)
  for (const directory of [beside, homeOf()]) {
    const file = join(directory, KEYS_FILE)
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (text !== null) return keysIn(text, file)
  }
  throw new Error(
    `no public keys: save /.well-known/parley-keys.json of the platform as ${KEYS_FILE} beside the certificate, or name it with --keys`,
  )
}

function keysIn(text: string, file: string): PublicSigningKey[] {
  try {
    const { keys } = JSON.parse(text) as { keys: PublicSigningKey[] }
    const all = keys.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid }))
    if (all.every(({ kty, crv, x }) => kty === 'OKP' && crv === 'Ed25519' && /^[\w-]{43}$/.test(x))) return all
  } catch {
    // Reported below.
  }
  throw new Error(`${file} is no set of Ed25519 keys: save /.well-known/parley-keys.json of the platform again`)
}

function described({ content, key_id }: Certificate): string {
  const { publication, predecessor, evidence, test_run_id, issued_at } = content
  const { candidate, trials, pairs, difference } = evidence
  const lines = [
    `valid: version ${publication.version} of agent "${publication.agent_id}" passed its release gate`,
    `digest      ${publication.digest}`,
    `compared    ${predecessor === null ? 'with no version: none was live' : `with version ${predecessor.version}, ${pairs} pairs of trials`}`,
    `pass rate   ${candidate.passed} of ${candidate.trials} (95 %: ${percent(candidate.low)} to ${percent(candidate.high)})`,
    ...(difference === null
      ? []
      : [
          `difference  ${percent(difference.estimate)} (95 %: ${percent(difference.low)} to ${percent(difference.high)})`,
        ]),
    `test run    ${test_run_id}, ${trials} trials`,
    `signed      ${issued_at} by the key ${key_id}`,
  ]
  return `${lines.join('\n')}\n`
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`
}
