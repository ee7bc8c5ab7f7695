import { stopSignals } from '../stop-signals.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley fakes'
const HELP = [
  '',
  'Runs local stand-ins of all speech and model services until Ctrl-C, and prints the environment variables that make Parley',
  'use them.',
]

/** Runs the simulated services until SIGINT or SIGTERM; prints the variables that make another process use them. */
export async function fakes(args: string[]): Promise<number> {
  parseCommand(args, {}, USAGE, HELP)
  // A development dependency: loaded by this command alone.
  const { StandIns } = await import('../stand-ins/stand-ins.ts')
  const standIns = await StandIns.open()
  const lines = Object.entries(standIns.environment).map(([name, value]) => `export ${name}=${value}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  process.stderr.write(
    'Local stand-ins of all services are running; Ctrl-C stops them. Start Parley with the variables above to use them. They understand and speak the simulated voice of the built-in phone only.\n',
  )
  await stopSignals().first
  await standIns.close()
  return 0
}
