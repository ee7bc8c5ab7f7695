export { FakeAnthropic } from './anthropic/fake-anthropic.ts'
export type { FakeMessagesStyle } from './anthropic/message-stream.ts'
export { FakeAssemblyAi, type FakeAssemblyAiOptions } from './assemblyai/fake-assemblyai.ts'
export { FakeCartesia, type FakeCartesiaOptions } from './cartesia/fake-cartesia.ts'
export { FakeAura } from './deepgram/fake-aura.ts'
export { FakeDeepgramFlux, type FakeDeepgramFluxOptions } from './deepgram/fake-deepgram-flux.ts'
export { FakeDeepgramListen } from './deepgram/fake-deepgram-listen.ts'
export { FakeElevenLabs } from './elevenlabs/fake-elevenlabs.ts'
export { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from './hearing/hearing-service.ts'
export { type FakeModelOptions, type FakeModelRequest, FakeModelService } from './models/fake-model-service.ts'
export type {
  FakeAsk,
  FakeMessage,
  FakeReply,
  FakeToolCall,
  FakeToolDeclaration,
  ModelUnkindness,
  Think,
} from './models/model-reply.ts'
export type { FakeModelStep, FakeStreamStyle } from './models/model-step.ts'
export { FakeSpeechService } from './openai/fake-speech.ts'
export type { FakeChatStyle } from './openai-chat/chat-completion.ts'
export { FakeOpenAiChat } from './openai-chat/fake-openai-chat.ts'
export type { FakeEmbeddingStyle } from './openai-embeddings/embedding-list.ts'
export { FakeOpenAiEmbeddings } from './openai-embeddings/fake-openai-embeddings.ts'
export { PathRouter } from './path-router.ts'
export type { FakeDelays, FakeHearing, FakeSpeech, FakeWord, OpenHearing, Speak, Unkindness } from './protocol.ts'
export type { FakeVoiceCounts, FakeVoiceOptions } from './voices/fake-voice.ts'
