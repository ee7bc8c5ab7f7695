import { agentHandlers } from '../handlers/agents.ts'
import { draftHandlers } from '../handlers/drafts.ts'
import { environmentHandlers } from '../handlers/environments.ts'
import { exchangeHandlers } from '../handlers/exchange.ts'
import { publicationHandlers } from '../handlers/publications.ts'
import { LARGE_BODY_BYTES } from '../reading/large-body.ts'
import { type PipelineApi, pipelineApi, type Received } from './pipeline-api.ts'

const MODEL = { model_id: 'near-1', provider: 'near', tier: 'frontier' }
const MANY = { perSecond: 10_000, burst: 10_000 }

/** The body as JSON that spaces at its end make large enough for a worker thread. */
export const spaced = (body: object) => `${JSON.stringify(body)}${' '.repeat(LARGE_BODY_BYTES)}`

/** An export with two nodes; `more` replaces members. */
export const exported = (more: object = {}) => ({
  agent_version: 3,
  agent: {
    agent_name: 'Doorbell',
    version: 3,
    language: ['en-US', 'de-DE'],
    strange_field: { a: 1 },
    response_engine: { type: 'conversation-flow', version: 3, conversation_flow_id: 'flow_door' },
  },
  flow: {
    conversation_flow_id: 'flow_door',
    version: 3,
    start_speaker: 'agent',
    start_node_id: 'hello',
    nodes: [
      {
        id: 'hello',
        type: 'conversation',
        instruction: { type: 'static_text', text: 'Who is there?' },
        edges: [{ id: 'e', transition_condition: { type: 'prompt', prompt: 'Said' }, destination_node_id: 'gone' }],
      },
      { id: 'bye', type: 'end' },
    ],
  },
  config: {
    providers: {
      stt: { provider: 'near', model: 'near-1' },
      llm: { model: MODEL, provider: 'hosted' },
      tts: { provider: 'near', model: 'near-1', voiceId: 'bea' },
    },
    recording: { required: true, channels: 'dual' },
  },
  model_bindings: {},
  ...more,
})

/** An API with the operations that have large bodies or answers. */
export class ReadingFixture {
  readonly api: PipelineApi
  #keys = 0

  constructor(api: PipelineApi) {
    this.api = api
  }

  static async open(): Promise<ReadingFixture> {
    const handlers = {
      ...agentHandlers,
      ...draftHandlers,
      ...environmentHandlers,
      ...exchangeHandlers,
      ...publicationHandlers,
    }
    return new ReadingFixture(
      await pipelineApi(handlers, { limits: { rates: { key: MANY, costly: MANY, address: MANY } } }),
    )
  }

  importOf(id: string, more: object = {}) {
    return { reference: { tenant_id: this.api.scope.tenant_id, kind: 'agent', id }, ...exported(more) }
  }

  importAgent(body: unknown, idempotencyKey = this.#key()): Promise<Received> {
    return this.api.request('POST', '/api/v1/agents/import', { idempotencyKey, body })
  }

  /** A request to `/api/v1/agents/PATH` with a new idempotency key. */
  request(method: string, path: string, body: unknown): Promise<Received> {
    return this.api.request(method, `/api/v1/agents/${path}`, { idempotencyKey: this.#key(), body })
  }

  /** The content of the agent's draft. */
  async draftOf(id: string) {
    const { body } = await this.api.request('GET', `/api/v1/agents/${id}/draft`)
    const { agent, draft_id, updated_at, revision, base_version, published_revision, ...content } = body
    return content
  }

  #key(): string {
    return `of-a-test-${this.#keys++}`
  }
}
