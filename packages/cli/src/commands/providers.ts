import { VENDORS } from '@parley/providers'
import { readSettings } from '../environment.ts'
import { checkServices } from '../service-check.ts'
import { parseCommand, UsageError } from '../usage.ts'

const USAGE = 'parley providers check'
const HELP = [
  '',
  'Sends one real request to each recogniser, voice and model whose API key is set, and to local servers, and prints the answer or what to do.',
  'Exit code 0: all of them answered. The environment variables of the services are in docs/providers.md.',
]

/** Sends one real request to each service that has an API key; exit code 0 if all of them answered. */
export async function providers(args: string[]): Promise<number> {
  const { positionals } = parseCommand(args, {}, USAGE, HELP)
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new UsageError(`usage: ${USAGE}`)
  const settings = readSettings(process.env)
  if (Object.keys(settings.vendors).length === 0) {
    const keys = VENDORS.flatMap(vendor => vendor.settings?.apiKey ?? [])
    process.stdout.write(
      `No API key is set, so there is nothing to check. Set one or more of ${keys.join(', ')}.\n` +
        'Without them agents use the built-in services: simulated/tones-1 for speech, parley/rules-1 as the model.\n',
    )
    return 0
  }
  let failures = 0
  for await (const { id, what, ok, detail } of checkServices(settings)) {
    if (!ok) failures++
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'}  ${id} (${what}): ${detail}\n`)
  }
  return failures === 0 ? 0 : 1
}
