export { FakeAnthropic } from './anthropic/fake-anthropic.ts'
export type { FakeMessagesStyle } from './anthropic/message-stream.ts'
export { FakeAssemblyAi, type FakeAssemblyAiOptions } from './assemblyai/fake-assemblyai.ts'
export { FakeAzureRecogniser } from './azure/fake-azure-recogniser.ts'
export { FakeAzureVoice } from './azure/fake-azure-voice.ts'
export { FakeCartesia } from './cartesia/fake-cartesia.ts'
export { FakeAura } from './deepgram/fake-aura.ts'
export { FakeDeepgramFlux, type FakeDeepgramFluxOptions } from './deepgram/fake-deepgram-flux.ts'
export { FakeDeepgramListen } from './deepgram/fake-deepgram-listen.ts'
export { FakeElevenLabs } from './elevenlabs/fake-elevenlabs.ts'
export type { FakeContentStyle } from './gemini/content-stream.ts'
export { FakeGemini } from './gemini/fake-gemini.ts'
export { FakeGoogleRecogniser } from './google/fake-google-recogniser.ts'
export { FakeGoogleVoice } from './google/fake-google-voice.ts'
export type { FakeChatRequest, FakeMessage } from './models/chat-request.ts'
export { type FakeModelOptions, FakeModelService } from './models/fake-model-service.ts'
export type { FakeReply, ModelFault, Respond } from './models/model-reply.ts'
export type { FakeModelStep } from './models/model-step.ts'
export type { FakeChatStyle } from './openai/chat-completion.ts'
export type { FakeEmbeddingStyle } from './openai/embedding-list.ts'
export { FakeOpenAiChat } from './openai/fake-openai-chat.ts'
export { FakeOpenAiEmbeddings } from './openai/fake-openai-embeddings.ts'
export { FakeRealtime } from './openai/fake-realtime.ts'
export { FakeSpeechService } from './openai/fake-speech.ts'
export { FakeTranscriptionService } from './openai/fake-transcription.ts'
export type {
  FakeDelays,
  FakeSpeech,
  FakeWord,
  OpenRecogniser,
  ServiceFault,
  Speak,
  WordRecogniser,
} from './protocol.ts'
export { FakeRecogniser } from './recognisers/fake-recogniser.ts'
export { FakeSoniox } from './soniox/fake-soniox.ts'
export { FakeSpeechmatics } from './speechmatics/fake-speechmatics.ts'
export type { StandInService } from './stand-in.ts'
export { STAND_INS } from './stand-ins.ts'
export type { FakeVoiceCounts, FakeVoiceOptions } from './voices/fake-voice.ts'
