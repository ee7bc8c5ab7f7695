import { nextSignal } from '../next-signal.ts'
import { StandIns } from '../stand-ins.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley fakes'

/** Runs the stand-ins until SIGINT or SIGTERM; prints the variables with which another process uses them. */
export async function fakes(args: string[]): Promise<number> {
  parseCommand(args, {}, USAGE)
  const standIns = await StandIns.open()
  const lines = Object.entries(standIns.environment).map(([name, value]) => `export ${name}=${value}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  process.stderr.write(
    'Stand-ins of speech services, on this machine. They hear what the built-in phone says, and speak as it does.\n',
  )
  await nextSignal()
  await standIns.close()
  return 0
}
