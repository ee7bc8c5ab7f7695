// The measured process: an engine with the built-in voice and recogniser and a scripted model, or with services in another
// process.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentActions, CodeThreads, InMemoryEffectLedger, type KnowledgeSearcher } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import type { VoiceAgent } from '@parley/engine'
import { ADMITS_WHEN_LATE, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { compile, type Draft, judgeDestination, type Plan } from '@parley/flow'
import { randomToken, systemRandom, systemTime } from '@parley/kernel'
import { KnowledgeSearch } from '@parley/knowledge'
import { ensureLocalCertificate } from '@parley/leg'
import {
  type LanguageModel,
  type SpeechToText,
  speechBandOf,
  type TextToSpeech,
  TonesRecogniser,
} from '@parley/providers'
import { AnthropicMessages, CartesiaVoice, deepgramNova, ServiceRecogniser } from '@parley/providers/testing'
import { openDatabase } from '@parley/store'
import { embedderAt } from '../knowledge/embeddings-server.ts'
import { crispVoice } from './crisp-voice.ts'
import { keepBusy, type PlantedFault } from './faults.ts'
import type { EngineMeasures, EngineReply, EngineRequest, SearchedDocuments } from './messages.ts'
import { MIN_DELAY_MS } from './script.ts'
import { ANSWER, CountedModel, RequestCounts, ScriptedModel } from './scripted-model.ts'

const GREETING = 'Welcome.'
const RTP_PORTS = { from: 24_000, to: 27_999 }
const MAX_CALLS = 1000

const counts = new RequestCounts()

/** An agent that greets the caller; the model answers each turn. */
const DRAFT: Draft = {
  name: 'Turns',
  settings: { reminderTriggerMs: 0 },
  providers: {
    stt: { provider: 'simulated', model: 'tones-1' },
    llm: {
      provider: 'simulated_hosted',
      model: { model_id: 'scripted', provider: 'bench', tier: 'platform-served' },
    },
    tts: { provider: 'simulated', model: 'tones-1' },
  },
  flow: {
    start_node_id: 'greeting',
    nodes: [
      {
        id: 'greeting',
        type: 'conversation',
        instruction: { type: 'static_text', text: GREETING },
        always_edge: {
          id: 'on',
          transition_condition: { type: 'prompt', prompt: 'Always' },
          destination_node_id: 'talk',
        },
      },
      { id: 'talk', type: 'conversation', instruction: { type: 'prompt', text: 'Answer whatever is asked.' } },
    ],
  },
}

const ALL_DOCUMENTS = { document_ids: null, top_k: 3, min_score: 0 }

async function start(request: EngineRequest & { type: 'start' }): Promise<EngineReply> {
  const { home, secure, faults } = request
  const services =
    request.services === null ? await ownServices(request.plantedMs, faults) : servicesAt(request.services)
  const knowledge = request.documents === null ? undefined : await searcherOf(request.documents)
  const recordings = request.recorded ? join(home, 'recordings') : null
  if (recordings !== null) await mkdir(recordings)
  const tls = await ensureLocalCertificate(home, { names: ['localhost'], addresses: ['127.0.0.1'] })
  const plan = () => {
    const talker = agent({ ...services, knowledge, model: new CountedModel(services.model, counts) }, request)
    const recordingPath = recordings === null ? null : join(recordings, `${counts.calls.length}.wav`)
    return testPlan({ agent: talker }, { recordingPath })
  }
  const token = randomToken(systemRandom, 26)
  const engine = await Engine.start({
    endpoint: {
      udpPort: 0,
      tcpPort: null,
      tlsPort: 0,
      tls,
      rtp: { ports: RTP_PORTS },
      userAgentName: 'Parley',
    },
    router: testRouter([{ token, security: secure ? 'srtp-required' : 'rtp-only', plan }]),
    maxCalls: MAX_CALLS,
    // A late engine would refuse calls; here its figures show what lateness does to them.
    ...ADMITS_WHEN_LATE,
  })
  const transport = secure ? 'tls' : 'udp'
  const uri = `sip:${token}@127.0.0.1:${engine.endpoint.port(transport)};transport=${transport}`
  const packetIo = engine.endpoint.media.describe().includes('native') ? 'native' : 'portable'
  if (faults.includes('busy')) keepBusy()
  return { type: 'started', uri, packetIo, tls }
}

interface AgentServices {
  readonly recogniser: SpeechToText
  readonly voice: TextToSpeech
  readonly model: LanguageModel
}

async function ownServices(plantedMs: number, faults: readonly PlantedFault[]): Promise<AgentServices> {
  return {
    recogniser: new TonesRecogniser(),
    voice: await crispVoice([GREETING, ANSWER], faults),
    model: new ScriptedModel(MIN_DELAY_MS, plantedMs),
  }
}

/** Searches as an engine of the platform does; the vectors are in memory before the first call. */
async function searcherOf(documents: SearchedDocuments): Promise<KnowledgeSearcher> {
  const { databaseUrl, embeddingsUrl, scope, lateMs } = documents
  const embedder = embedderAt(embeddingsUrl)
  const source = new KnowledgeSearch({
    database: await openDatabase({ ownerUrl: databaseUrl, process: 'engine' }),
    embedders: () => embedder,
  })
  const searcher: KnowledgeSearcher = {
    async search(query, signal) {
      if (lateMs > 0) await sleep(lateMs, null, { signal })
      return source.search(scope, query, signal)
    },
  }
  const never = new AbortController().signal
  await searcher.search({ query: 'What is there?', documentIds: null, topK: 1, minScore: 0 }, never)
  return searcher
}

/** Adapters of one service of each kind, with their connections. */
function servicesAt(at: Readonly<Record<string, string>>): AgentServices {
  const of = (vendor: string) => {
    return { apiKey: at[`${vendor}_API_KEY`]!, baseUrl: at[`${vendor}_BASE_URL`]!, time: systemTime }
  }
  return {
    recogniser: new ServiceRecogniser(deepgramNova(), of('DEEPGRAM')),
    voice: new CartesiaVoice(of('CARTESIA')),
    model: new AnthropicMessages({ ...of('ANTHROPIC'), model: 'claude-haiku-4-5' }),
  }
}

function agent(
  { recogniser, voice, model, knowledge }: AgentServices & { readonly knowledge: KnowledgeSearcher | undefined },
  { endpointingMs, asksAhead }: EngineRequest & { type: 'start' },
): VoiceAgent {
  const egress = new OutboundHttp({ allow: [], time: systemTime })
  return {
    plan: compiled(knowledge === undefined ? DRAFT : { ...DRAFT, knowledge: ALL_DOCUMENTS }),
    knowledge,
    agentId: null,
    agentVersion: null,
    recogniser,
    speechBand: speechBandOf(recogniser.id),
    voice,
    voiceId: null,
    model: () => model,
    actions: ledger =>
      new AgentActions({
        code: new CodeThreads(),
        egress,
        ledger,
        secrets: { get: async () => null },
        time: systemTime,
        wallClock: Date.now,
      }),
    ledger: () => new InMemoryEffectLedger({ random: systemRandom, wallClock: Date.now }),
    transferPolicy: destination => judgeDestination(destination, { allowedCountries: [], mayDial: false }),
    asksAhead,
    endpointing: { mode: 'fixed', silenceMs: endpointingMs },
  }
}

function compiled(draft: Draft): Plan {
  const compilation = compile(draft)
  if (!compilation.ok) throw new Error(`the plan does not compile: ${JSON.stringify(compilation.diagnostics)}`)
  return compilation.plan
}

function measure(): EngineMeasures {
  const { active, idle } = performance.eventLoopUtilization()
  const { requests, withPassages, misheard, calls } = counts
  const linesInTwo = calls.reduce((sum, call) => sum + call.inTwo, 0)
  return { activeMs: active, idleMs: idle, requests, withPassages, misheard, linesInTwo }
}

process.on('message', (request: EngineRequest) => {
  const answer =
    request.type === 'start' ? start(request) : Promise.resolve({ type: 'measured', measures: measure() } as const)
  answer.then(
    reply => process.send!(reply),
    error => process.send!({ type: 'failed', detail: String(error) } satisfies EngineReply),
  )
})
process.on('disconnect', () => process.exit())
