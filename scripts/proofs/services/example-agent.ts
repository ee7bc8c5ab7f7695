import type { VoiceAgent } from '@parley/engine'
import { type ExampleName, exampleDraft, withOrigin } from '@parley/examples'
import { compile } from '@parley/flow'
import { type Services, serviceNamed } from '../../../packages/cli/src/services.ts'

/**
 * An agent of `examples/agents`, compiled, with its HTTP actions at `origin`. `overrides` replaces its services, each given
 * as `vendor/model`. Throws if the draft has errors or a service is not ready.
 */
export async function exampleAgent(
  name: ExampleName,
  origin: string,
  services: Services,
  overrides: { readonly stt?: string; readonly tts?: string; readonly llm?: string } = {},
): Promise<VoiceAgent> {
  const draft = withOrigin(exampleDraft(name).draft, origin)
  const { stt, tts, llm } = draft.providers
  const providers = {
    ...draft.providers,
    stt: overrides.stt === undefined ? stt : serviceNamed(overrides.stt),
    tts: overrides.tts === undefined ? tts : serviceNamed(overrides.tts),
    llm: overrides.llm === undefined ? llm : { ...llm, model: { ...llm.model, ...modelOf(overrides.llm) } },
  }
  const compiled = compile({ ...draft, providers })
  if (!compiled.ok) {
    const faults = compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`)
    throw new Error(`the example agent "${name}" has errors: ${faults.join('; ')}`)
  }
  return services.agent(compiled.plan, { id: null, version: null })
}

function modelOf(id: string): { provider: string; model_id: string } {
  const { provider, model } = serviceNamed(id)
  return { provider, model_id: model }
}
