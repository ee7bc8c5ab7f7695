export type { FakeDelays, FakeHearing, FakeSpeech, FakeWord, OpenHearing, Speak, Unkindness } from './protocol.ts'
