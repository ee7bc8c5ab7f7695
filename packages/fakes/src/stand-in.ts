import type { FakeModelOptions } from './models/fake-model-service.ts'
import type { ModelFault } from './models/model-reply.ts'
import type { ServiceFault } from './protocol.ts'
import type { FakeRecogniserOptions } from './recognisers/fake-recogniser.ts'
import type { FakeVoiceOptions } from './voices/fake-voice.ts'

/** The fakes of one vendor's services behind one address, as the vendor offers them. */
export interface StandInVendor {
  /** The vendor's name, as in the ids of its services: "deepgram". */
  readonly name: string
  readonly open: (options: StandInOptions) => Promise<OpenStandIn>
}

/** What the fakes of each kind of service are opened with. */
interface StandInOptions {
  readonly recogniser: FakeRecogniserOptions
  readonly voice: FakeVoiceOptions
  readonly model: FakeModelOptions
}

interface OpenStandIn {
  /** The value of the vendor's setting for its base URL. */
  readonly baseUrl: string
  /** By model, such as "nova-3": the service that its requests reach. */
  readonly services: Readonly<Record<string, StandInService>>
  close(): Promise<void>
}

/** One service of a stand-in, with the controls that make it fail. */
export interface StandInService {
  /** Faults of the next connections or requests, one each; those after them are served. Only models accept "slow". */
  injectFaults(...faults: readonly ModelFault[]): void
  /** Breaks all connections without a close frame. */
  breakOff(): void
}

/** A fake of a recogniser or a voice. */
interface SpeechFake {
  injectFaults(...faults: readonly ServiceFault[]): void
  breakOff(): void
}

export function speechService(fake: SpeechFake): StandInService {
  return {
    injectFaults: (...faults) => fake.injectFaults(...faults.map(speechFault)),
    breakOff: () => fake.breakOff(),
  }
}

function speechFault(fault: ModelFault): ServiceFault {
  if (fault.type === 'slow')
    throw new Error('the fault "slow" is for models only; set `delays` for a recogniser or a voice')
  return fault
}
