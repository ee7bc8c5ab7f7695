// The process that is measured: an engine whose voice and recogniser are the built-in ones and whose model follows a script.
import { HttpActions, judgeDestination, MemoryLedger } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import { Engine, type VoiceAgent } from '@parley/engine'
import { compile, type Draft, type Plan } from '@parley/flow'
import { randomToken, systemRandom, systemTime } from '@parley/kernel'
import { ensureLocalCertificate } from '@parley/leg'
import { type SpeechChunk, type TextToSpeech, TonesRecogniser, TonesVoice } from '@parley/providers'
import { crispStart } from './crisp-audio.ts'
import type { EngineMeasures, EngineReply, EngineRequest } from './messages.ts'
import { ANSWER, ScriptedModel } from './scripted-model.ts'

const GREETING = 'Welcome.'
const RTP_PORTS = { from: 24_000, to: 25_999 }

let model: ScriptedModel | null = null

/** Greets; then the model answers each turn. */
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

async function start(request: EngineRequest & { type: 'start' }): Promise<EngineReply> {
  const voice = await readyVoice()
  model = new ScriptedModel(request.plantedMs)
  const token = randomToken(systemRandom, 26)
  const engine = await Engine.start({
    station: {
      udpPort: 0,
      tcpPort: null,
      tlsPort: null,
      tls: await ensureLocalCertificate(request.home, { names: ['localhost'], addresses: ['127.0.0.1'] }),
      rtp: { ports: RTP_PORTS },
      userAgentName: 'Parley',
    },
    routes: [{ name: 'turns', token, security: 'rtp-only', agent: agent(voice, model, request) }],
    voice,
    language: 'en',
    recordingPath: () => null,
  })
  const uri = `sip:${token}@127.0.0.1:${engine.station.port('udp')};transport=udp`
  const packetIo = engine.station.media.describe().includes('native') ? 'native' : 'portable'
  return { type: 'started', uri, packetIo }
}

function agent(
  voice: TextToSpeech,
  scripted: ScriptedModel,
  { endpointingMs, asksAhead }: EngineRequest & { type: 'start' },
): VoiceAgent {
  const egress = new OutboundHttp({ allow: [], time: systemTime })
  return {
    plan: compiled(),
    agentId: null,
    agentVersion: null,
    recogniser: new TonesRecogniser(),
    voice,
    voiceId: null,
    model: () => scripted,
    actions: ledger =>
      new HttpActions({
        egress,
        ledger,
        secrets: { get: async () => null },
        time: systemTime,
        wallClock: Date.now,
      }),
    ledger: () => new MemoryLedger({ random: systemRandom, wallClock: Date.now }),
    transferPolicy: destination => judgeDestination(destination, { allowedCountries: [], mayDial: false }),
    asksAhead,
    endpointing: { mode: 'fixed', silenceMs: endpointingMs },
  }
}

function compiled(): Plan {
  const compilation = compile(DRAFT)
  if (!compilation.ok) throw new Error(`the plan does not compile: ${JSON.stringify(compilation.diagnostics)}`)
  return compilation.plan
}

/** The built-in voice with all that is said in its memory, each sentence from its first audible sample on. */
async function readyVoice(): Promise<TextToSpeech> {
  const tones = new TonesVoice()
  const voice: TextToSpeech = {
    id: tones.id,
    languages: tones.languages,
    readiness: language => tones.readiness(language),
    async *synthesize(request, signal): AsyncGenerator<SpeechChunk> {
      for await (const { samples, words } of tones.synthesize(request, signal))
        yield { samples: crispStart(samples), words }
    },
    close: () => tones.close(),
  }
  for (const text of [GREETING, ANSWER])
    for await (const _ of voice.synthesize({ text, language: 'en' }, AbortSignal.timeout(30_000)));
  return voice
}

function measure(): EngineMeasures {
  const { user, system } = process.cpuUsage()
  const { active, idle } = performance.eventLoopUtilization()
  return {
    cpuMs: (user + system) / 1000,
    activeMs: active,
    idleMs: idle,
    atMs: performance.now(),
    requests: model?.requests ?? 0,
    misheard: model?.misheard ?? [],
  }
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
