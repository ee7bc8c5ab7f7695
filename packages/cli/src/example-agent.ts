import type { VoiceAgent } from '@parley/engine'
import { type ExampleName, type ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { compile } from '@parley/flow'
import { ParleyError } from '@parley/kernel'
import type { Services } from './services.ts'

/** An example of `examples/agents`, compiled, with its actions at `origin`. Throws "example_invalid" and what services throw. */
export async function exampleAgent(name: ExampleName, origin: string, services: Services): Promise<VoiceAgent> {
  const compiled = compile(withOrigin(exampleDraft(name).draft, origin))
  if (!compiled.ok) {
    const faults = compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`)
    throw new ParleyError('example_invalid', `the example agent "${name}" is not valid: ${faults.join('; ')}`)
  }
  return services.agent(compiled.plan, { id: null, version: null })
}

/** What the services may reach: the server of the examples and nothing else of this machine. */
export function addressOf(server: ExampleServer): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server.origin)
  return { host: hostname, port: Number(port) }
}
