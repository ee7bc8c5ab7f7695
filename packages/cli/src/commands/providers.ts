import { readSettings } from '../environment.ts'
import { checkServices } from '../service-check.ts'
import { parseCommand, UsageError } from '../usage.ts'

const USAGE = 'parley providers check'

/** One real request to each service that has a key; exit 0 when all of them answered. */
export async function providers(args: string[]): Promise<number> {
  const { positionals } = parseCommand(args, {}, USAGE)
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new UsageError(`usage: ${USAGE}`)
  const settings = readSettings(process.env)
  const vendors = Object.keys(settings.services)
  if (vendors.length === 0) {
    process.stdout.write(
      'No key of a service is in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPGRAM_API_KEY, ASSEMBLYAI_API_KEY, ELEVENLABS_API_KEY, CARTESIA_API_KEY).\n' +
        'Agents use what is built in: simulated/tones-1 hears and speaks, parley/rules-1 thinks.\n',
    )
    return 0
  }
  let failures = 0
  for await (const { id, what, ok, told } of checkServices(settings)) {
    if (!ok) failures++
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'}  ${id} (${what}): ${told}\n`)
  }
  return failures === 0 ? 0 : 1
}
