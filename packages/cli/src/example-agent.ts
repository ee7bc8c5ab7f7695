import type { VoiceAgent } from '@parley/engine'
import { type ExampleName, exampleDraft, withOrigin } from '@parley/examples'
import { compile } from '@parley/flow'
import { ParleyError } from '@parley/kernel'
import { type Services, serviceNamed } from './services.ts'

/**
 * An example of `examples/agents`, compiled, with its actions at `origin`; `named`: other services than its own, as
 * `vendor/model`. Throws "example_invalid" and what services throw.
 */
export async function exampleAgent(
  name: ExampleName,
  origin: string,
  services: Services,
  named: { readonly stt?: string; readonly tts?: string; readonly llm?: string } = {},
): Promise<VoiceAgent> {
  const draft = withOrigin(exampleDraft(name).draft, origin)
  const { stt, tts, llm } = draft.providers
  const providers = {
    ...draft.providers,
    stt: named.stt === undefined ? stt : serviceNamed(named.stt),
    tts: named.tts === undefined ? tts : serviceNamed(named.tts),
    llm: named.llm === undefined ? llm : { ...llm, model: { ...llm.model, ...modelOf(named.llm) } },
  }
  const compiled = compile({ ...draft, providers })
  if (!compiled.ok) {
    const faults = compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`)
    throw new ParleyError('example_invalid', `the example agent "${name}" is not valid: ${faults.join('; ')}`)
  }
  return services.agent(compiled.plan, { id: null, version: null })
}

function modelOf(id: string): { provider: string; model_id: string } {
  const { provider, model } = serviceNamed(id)
  return { provider, model_id: model }
}

/** What the services may reach: the server of the examples and nothing else of this machine. */
export function addressOf(server: { readonly origin: string }): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server.origin)
  return { host: hostname, port: Number(port) }
}
