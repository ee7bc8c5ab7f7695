import { AgentActions, CodeThreads, type EffectRecord, InMemoryEffectLedger } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import type { VoiceAgent } from '@parley/engine'
import { compile, type Draft, judgeDestination } from '@parley/flow'
import { systemRandom, systemTime } from '@parley/kernel'
import { PhoneVoice } from '@parley/phone'
import { RulesModel, speechBandOf, TonesRecogniser, TonesVoice } from '@parley/providers'

/** Services of agents under test: the built-in voice, recogniser and model, and real HTTP to servers of the test. */
export class AgentServices {
  readonly voice = new TonesVoice()
  readonly recogniser = new TonesRecogniser()
  readonly #model = new RulesModel()
  readonly #ledgers: InMemoryEffectLedger[] = []
  readonly #egress: OutboundHttp

  /** `origins`: servers that actions may reach, such as `http://127.0.0.1:8080`. */
  constructor(...origins: readonly string[]) {
    const allow = origins
      .map(origin => new URL(origin))
      .map(({ hostname, port }) => ({ host: hostname, port: Number(port) }))
    this.#egress = new OutboundHttp({ allow, time: systemTime })
  }

  /** Throws when the draft does not compile. Transfers may go to the United States. */
  agent(name: string, draft: Draft): VoiceAgent {
    const compiled = compile(draft)
    if (!compiled.ok)
      throw new Error(`${name}: ${compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`).join('\n')}`)
    return {
      plan: compiled.plan,
      agentId: name,
      agentVersion: 1,
      recogniser: this.recogniser,
      speechBand: speechBandOf(this.recogniser.id),
      voice: this.voice,
      voiceId: null,
      model: () => this.#model,
      ledger: () => this.#ledger(),
      actions: ledger =>
        new AgentActions({
          code: new CodeThreads(),
          egress: this.#egress,
          ledger,
          secrets: { get: async () => null },
          time: systemTime,
          wallClock: Date.now,
        }),
      transferPolicy: destination => judgeDestination(destination, { allowedCountries: ['US'], mayDial: true }),
    }
  }

  /** Synthesises fixed texts before the first call, so that a cold voice does not delay the calls under test. */
  async rehearse(...drafts: readonly Draft[]): Promise<void> {
    const texts = JSON.stringify(drafts).matchAll(/"type":"static_text","text":"([^"{]+)"/g)
    const voice = new PhoneVoice(this.voice, 'en')
    await Promise.all([...texts].map(([, text]) => voice.render(text!)))
  }

  /** The record of an effect of any call. */
  effect(effectId: string): EffectRecord | undefined {
    return this.#ledgers.flatMap(ledger => ledger.records).find(record => record.effect_id === effectId)
  }

  async close(): Promise<void> {
    await this.#egress.close()
    await Promise.all([this.voice.close(), this.recogniser.close(), this.#model.close()])
  }

  #ledger(): InMemoryEffectLedger {
    const ledger = new InMemoryEffectLedger({ random: systemRandom, wallClock: Date.now })
    this.#ledgers.push(ledger)
    return ledger
  }
}
