import { HelpAsked, UsageError } from './usage.ts'

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

Each tells more by --help. Settings are environment variables: see docs/operations.md.
`

type Command = (args: string[]) => Promise<number>

/** Each command is loaded on use: the engine takes seconds to load, and `parley runs` does not need it. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  call: async () => (await import('./commands/call.ts')).call,
  demo: async () => (await import('./commands/demo.ts')).demo,
  fakes: async () => (await import('./commands/fakes.ts')).fakes,
  providers: async () => (await import('./commands/providers.ts')).providers,
  agents: async () => (await import('./commands/agents.ts')).agents,
  runs: async () => (await import('./commands/runs.ts')).runs,
  admin: async () => (await import('./commands/admin.ts')).admin,
  sip: async () => (await import('./commands/sip.ts')).sip,
  '--version': async () => (await import('./commands/version.ts')).version,
}

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(USAGE)
    return name === undefined ? 64 : 0
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) throw new UsageError(`there is no command "${name}"; parley --help lists them`)
  const command = await load()
  whenNobodyReads(SERVERS.has(name))
  return command(rest)
}

/** Commands with live calls, which continue when the reader of their output is gone. */
const SERVERS: ReadonlySet<string> = new Set(['serve', 'fakes'])

/** The reader of our output is gone (`parley runs list | head`): a server continues silently, any other command ends. */
function whenNobodyReads(goesOn: boolean): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!goesOn) process.exit(error.code === 'EPIPE' ? 0 : 1)
    })
}

main(process.argv.slice(2)).then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (error instanceof HelpAsked) {
      process.stdout.write(`${error.message}\n`)
      return
    }
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`parley: ${message}\n`)
    if (process.env.PARLEY_DEBUG !== undefined && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    process.exitCode = error instanceof UsageError ? 64 : 1
  },
)
