import type { VoiceAgent } from '@parley/engine'
import { type ExampleName, type ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { compile } from '@parley/flow'
import { ParleyError } from '@parley/kernel'
import type { Services } from './services.ts'

/**
 * An example of `examples/agents`, compiled, with its actions at `origin`; `speech`: other services than its own, as
 * `vendor/model`. Throws "example_invalid" and what services throw.
 */
export async function exampleAgent(
  name: ExampleName,
  origin: string,
  services: Services,
  speech: { readonly stt?: string; readonly tts?: string } = {},
): Promise<VoiceAgent> {
  const draft = withOrigin(exampleDraft(name).draft, origin)
  const { stt, tts } = draft.providers
  const providers = {
    ...draft.providers,
    stt: speech.stt === undefined ? stt : providerOf(speech.stt),
    tts: speech.tts === undefined ? tts : providerOf(speech.tts),
  }
  const compiled = compile({ ...draft, providers })
  if (!compiled.ok) {
    const faults = compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`)
    throw new ParleyError('example_invalid', `the example agent "${name}" is not valid: ${faults.join('; ')}`)
  }
  return services.agent(compiled.plan, { id: null, version: null })
}

function providerOf(id: string): { provider: string; model: string } {
  const [provider, ...model] = id.split('/')
  return { provider: provider!, model: model.join('/') }
}

/** What the services may reach: the server of the examples and nothing else of this machine. */
export function addressOf(server: ExampleServer): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server.origin)
  return { host: hostname, port: Number(port) }
}
