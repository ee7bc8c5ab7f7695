import { admin } from './commands/admin.ts'
import { agents } from './commands/agents.ts'
import { call } from './commands/call.ts'
import { demo } from './commands/demo.ts'
import { fakes } from './commands/fakes.ts'
import { providers } from './commands/providers.ts'
import { runs } from './commands/runs.ts'
import { serve } from './commands/serve.ts'
import { sip } from './commands/sip.ts'
import { version } from './commands/version.ts'
import { UsageError } from './usage.ts'

const USAGE = `parley: conversational agents on real phone calls

  parley serve                      the engine: answers SIP calls over TLS and SRTP (npm start)
  parley call URI [--say TEXT]… [--wav FILE] [--digits DIGITS] [--record FILE] [--seconds N]
                                    calls a SIP URI with a virtual phone
  parley demo [--json]              one complete call over real sockets (npm run demo)
  parley providers check            one real request to each service that has a key
  parley fakes                      local stand-ins of those services, for work without keys
  parley agents list | import FILE | validate AGENT | publish AGENT | export AGENT
                                    agents by the API (PARLEY_API, PARLEY_KEY; default: of npm start)
  parley runs create AGENT --to NUMBER | list | get RUN | follow RUN | transcript RUN | cancel RUN
                                    calls, chats and tasks by the API
  parley admin …                    platform staff: organisations, environments, trunks, rate cards, keys, master key
  parley sip decode FILE            what a user agent makes of a SIP message
  parley --version | --help

Settings are PARLEY_… environment variables: see docs/architecture.md.
`

const commands: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  serve,
  call,
  demo,
  fakes,
  providers,
  agents,
  runs,
  admin,
  sip,
  '--version': version,
}

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(USAGE)
    return name === undefined ? 64 : 0
  }
  const command = commands[name]
  if (command === undefined) throw new UsageError(`there is no command "${name}"; parley --help lists them`)
  return command(rest)
}

main(process.argv.slice(2)).then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`parley: ${message}\n`)
    if (process.env.PARLEY_DEBUG !== undefined && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    process.exitCode = error instanceof UsageError ? 64 : 1
  },
)
