import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ParleyClient, RequestTo, ResultFrom } from '@parley/client'
import { eventually } from './placed-call.ts'

type Published = ResultFrom<'publications.publish'>
type Publication = ResultFrom<'publications.get'>

/** An agent of a running platform whose opening line is changed and published again and again. */
export class GatedAgent {
  readonly id: string
  readonly #client: ParleyClient
  readonly #node: string

  private constructor(client: ParleyClient, id: string, node: string) {
    this.#client = client
    this.id = id
    this.#node = node
  }

  /** A chat agent with this opening line, published without a gate. */
  static async published(client: ParleyClient, opening: string): Promise<GatedAgent> {
    const { ref } = await client.agents.create({ body: { template: 'cloud_chat', name: 'Gated' } })
    const { flow } = await client.drafts.get({ params: { agent_id: ref.id } })
    const agent = new GatedAgent(client, ref.id, flow.start_node_id!)
    await agent.publish(opening)
    return agent
  }

  /** A suite whose only case wants the agent to name the desk. */
  async suite(): Promise<string> {
    const { suite_id } = await this.#client.testSuites.create({
      body: {
        name: 'Opening',
        agent_id: this.id,
        cases: [
          {
            case_id: 'opening',
            name: 'The agent says where it works',
            language: 'en',
            caller: { kind: 'script', steps: [{ says: 'No more questions, goodbye.' }] },
            assertions: [{ type: 'said', id: 'desk', role: 'agent', contains: 'desk' }],
          },
        ],
      },
    })
    return suite_id
  }

  /** Sets the opening line, and the gate if one is given; publishes the draft. */
  async publish(
    opening: string,
    more: { readonly gateOn?: string; readonly override?: string } = {},
  ): Promise<Published> {
    const params = { agent_id: this.id }
    const { draft } = await this.#client.agents.get({ params })
    const gate = { maximumFalsePass: 0.1, maximumFalseBlock: 0.05, minimumEffect: 0.3 }
    const edits: RequestTo<'drafts.edit'>['body']['edits'] = [
      {
        type: 'node.instruction',
        component_id: null,
        node_id: this.#node,
        instruction: { type: 'static_text', text: opening },
      },
      ...(more.gateOn === undefined
        ? []
        : [{ type: 'agent.settings' as const, values: { releaseGate: { ...gate, suites: [more.gateOn] } } }]),
    ]
    const at = { draft_id: draft!.draft_id, expected_revision: draft!.revision }
    const { revision } = await this.#client.drafts.edit({ params, body: { ...at, edits } })
    return this.#client.publications.publish({
      params,
      body: {
        ...at,
        expected_revision: revision,
        ...(more.override !== undefined && { override: { reason: more.override } }),
      },
    })
  }

  async head(): Promise<number> {
    return (await this.#client.agents.get({ params: { agent_id: this.id } })).head!.version
  }

  /** The version when its gate has a result. */
  decided(version: number, withinMs: number): Promise<Publication> {
    const read = () => this.#client.publications.get({ params: { agent_id: this.id, version } })
    return eventually(read, ({ gate }) => gate.state !== 'running', withinMs)
  }
}

/** Runs `parley verify` on a file; resolves with its exit code and its output. */
export async function verified(file: string, home: string): Promise<{ readonly code: number; readonly text: string }> {
  const args = [join(import.meta.dirname, '../packages/cli/bin/parley.mjs'), 'verify', file]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, PARLEY_HOME: home },
    })
    return { code: 0, text: stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, text: `${stdout}${stderr}` }
  }
}
