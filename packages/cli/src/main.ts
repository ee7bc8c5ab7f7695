import { HelpRequested, UsageError } from './usage.ts'

const USAGE = `parley: conversational agents on real phone calls

  parley serve                      start the platform: API, worker and engine (npm start)
  parley demo [--json]              make one complete call on this machine and report it (npm run demo)
  parley call URI [--say TEXT]… [--wav FILE] [--digits DIGITS] [--record FILE] [--seconds N]
                                    call a SIP URI with a virtual phone
  parley agents list | import FILE | validate AGENT | publish AGENT | export AGENT
                                    manage agents through the API
  parley runs create AGENT --to NUMBER | list | get RUN | follow RUN | transcript RUN | ladder RUN | cancel RUN
                                    start and inspect calls, chats and tasks through the API
  parley test AGENT [--junit FILE] [--json]
                                    test a published version with its test suites; exit code 1 unless it passes
  parley replay RUN [--draft | --version N] [--simulate] [--json]
                                    replay an ended run; exit code 1 if a turn changes
  parley verify CERTIFICATE [--keys FILE]
                                    check the certificate of a version that passed its release gate, offline
  parley admin …                    manage organisations, environments, trunks, rate cards and keys (platform staff)
  parley providers check            test each speech and model service that has an API key
  parley speech install [--remove]  install a local recogniser and voice (English), for calls without API keys
  parley fakes                      run local stand-ins of those services, for work without API keys
  parley sip decode FILE            parse a SIP message and print it as JSON
  parley --version | --help

"parley COMMAND --help" shows the usage of a command. "agents", "runs" and "test" use the API at PARLEY_API with the key
PARLEY_KEY, or else the running "npm start" of this directory. All settings are environment variables:
see docs/operations.md.
`

type Command = (args: string[]) => Promise<number>

/** Each command is loaded on use: the engine takes seconds to load, and `parley runs` does not need it. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  call: async () => (await import('./commands/call.ts')).call,
  demo: async () => (await import('./commands/demo.ts')).demo,
  fakes: async () => (await import('./commands/fakes.ts')).fakes,
  providers: async () => (await import('./commands/providers.ts')).providers,
  speech: async () => (await import('./commands/speech.ts')).speech,
  agents: async () => (await import('./commands/agents.ts')).agents,
  runs: async () => (await import('./commands/runs.ts')).runs,
  test: async () => (await import('./commands/test.ts')).test,
  replay: async () => (await import('./commands/replay.ts')).replay,
  verify: async () => (await import('./commands/verify.ts')).verify,
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
  if (load === undefined) throw new UsageError(`there is no command "${name}": "parley --help" lists the commands`)
  const command = await load()
  handleClosedOutput(SERVERS.has(name))
  return command(rest)
}

/** Commands with live calls, which continue when the reader of their output is gone. */
const SERVERS: ReadonlySet<string> = new Set(['serve', 'fakes'])

/** Handles a reader that has closed our output (`parley runs list | head`): a server continues silently, any other command ends. */
function handleClosedOutput(continues: boolean): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!continues) process.exit(error.code === 'EPIPE' ? 0 : 1)
    })
}

/** Libraries leave timers behind (BullMQ on Postgres: up to 5 s); the process waits only for its output to be written. */
function exit(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

main(process.argv.slice(2)).then(exit, (error: unknown) => {
  if (error instanceof HelpRequested) {
    process.stdout.write(`${error.message}\n`)
    return
  }
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`parley: ${message}\n`)
  if (process.env.PARLEY_DEBUG !== undefined && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exitCode = error instanceof UsageError ? 64 : 1
})
