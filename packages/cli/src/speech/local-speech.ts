import type { VendorAccess } from '@parley/providers'
import type { Settings } from '../environment.ts'
import { findInstallation, SPEECH_PROGRAMS } from './installation.ts'
import { SpeechServer } from './speech-server.ts'

/** The speech servers of `parley speech install` that run beside this process. */
export interface LocalSpeech {
  /** The given settings, with the servers that run. */
  readonly settings: Settings
  /** What runs, or why nothing does; null: nothing is installed. */
  readonly line: string | null
  close(): Promise<void>
}

/**
 * Starts the installed speech servers, except those that `PARLEY_LOCAL_STT` or `PARLEY_LOCAL_TTS` replaces. A server that does not
 * start is left out: calls are possible without it.
 */
export async function startLocalSpeech(settings: Settings, printLine: (line: string) => void): Promise<LocalSpeech> {
  const installation = await findInstallation(settings.home)
  const none = { settings, close: async () => {} }
  if (installation === null) return { ...none, line: null }
  if (!installation.isCurrent)
    return {
      ...none,
      line: 'The installed speech servers are of another version of Parley: run "npx parley speech install" again.',
    }
  const wanted = SPEECH_PROGRAMS.filter(({ vendor }) => !(vendor in settings.vendors))
  const servers: SpeechServer[] = []
  const vendors: Record<string, VendorAccess> = { ...settings.vendors }
  const names: string[] = []
  const started = await Promise.allSettled(
    wanted.map(program => SpeechServer.start({ python: installation.python, program, printLine })),
  )
  for (const [at, result] of started.entries()) {
    const { vendor, model, voice } = wanted[at]!
    if (result.status === 'rejected') {
      printLine(`${vendor}/${model} is not available: ${reasonOf(result.reason)}`)
      continue
    }
    servers.push(result.value)
    const baseUrl = `http://127.0.0.1:${result.value.port}/v1`
    names.push(`${vendor}/${model} at ${baseUrl}`)
    vendors[vendor] = {
      apiKey: '',
      baseUrl,
      models: [model],
      languages: ['en'],
      ...(voice !== null && { voice }),
    }
  }
  return {
    settings: { ...settings, vendors },
    line: names.length === 0 ? null : `local speech   ${names.join(' and ')}, installed here: English only`,
    async close() {
      await Promise.all(servers.map(server => server.close()))
    },
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
