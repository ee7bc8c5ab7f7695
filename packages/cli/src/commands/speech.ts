import { readSettings } from '../environment.ts'
import { checkLocalSpeech } from '../speech/check-local-speech.ts'
import { installSpeech, removeSpeech, WHAT_IS_INSTALLED } from '../speech/install-speech.ts'
import { speechDirectory } from '../speech/installation.ts'
import { parseCommand, UsageError } from '../usage.ts'

const USAGE = 'parley speech install [--remove]'
const HELP = [
  '',
  'Installs a local recogniser and a local voice (English only) into PARLEY_HOME, for calls without API keys. "npm start" finds them.',
  'It needs Python 3.11 or later (the program python3, or the one that PYTHON names) and the Python package index.',
  'It may be interrupted and run again.',
  '',
  '  --remove  removes them again',
  '',
  ...WHAT_IS_INSTALLED,
]

/** Installs or removes the local recogniser and voice. */
export async function speech(args: string[]): Promise<number> {
  const { values, positionals } = parseCommand(args, { remove: { type: 'boolean', default: false } }, USAGE, HELP)
  if (positionals.length !== 1 || positionals[0] !== 'install') throw new UsageError(`usage: ${USAGE}`)
  const settings = readSettings(process.env)
  const { home } = settings
  if (values.remove) {
    await removeSpeech(home)
    printLine(`removed: ${speechDirectory(home)}. Restart "npm start" if it runs.`)
    return 0
  }
  for (const line of WHAT_IS_INSTALLED) printLine(line)
  await installSpeech({ home, python: process.env.PYTHON || 'python3', printLine })
  for await (const line of checkLocalSpeech(settings)) printLine(line)
  printLine('"npm start" uses them now: the clinic understands everybody who speaks English.')
  return 0
}

const printLine = (line: string) => void process.stdout.write(`${line}\n`)
