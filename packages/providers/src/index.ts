export { AnthropicMessages } from './anthropic/io/anthropic-messages.ts'
export { assemblyAiStreaming } from './assemblyai/streaming-v3.ts'
export { CartesiaVoice } from './cartesia/io/cartesia-voice.ts'
export { AuraVoice } from './deepgram/io/aura-voice.ts'
export { deepgramNova } from './deepgram/listen-v1.ts'
export { deepgramFlux } from './deepgram/listen-v2.ts'
export { ElevenLabsVoice } from './elevenlabs/io/elevenlabs-voice.ts'
export type { TextEmbedder } from './embedding/text-embedder.ts'
export { ServiceRecogniser } from './io/service-recogniser.ts'
export type {
  ChatMessage,
  GenerationBrief,
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelIdentity,
  ToolCall,
  ToolDeclaration,
  TransitionTool,
} from './language-model/language-model.ts'
export { LocalEspeak } from './local/io/espeak-voice.ts'
export { LocalFlite } from './local/io/flite-voice.ts'
export { retryAfterMs, ServiceRefusal } from './model-service/model-failure.ts'
export { OpenAiChat } from './openai/io/openai-chat.ts'
export { OpenAiEmbedder } from './openai/io/openai-embedder.ts'
export { OpenAiVoice } from './openai/io/openai-voice.ts'
export { RulesModel, type RulesPace } from './parley/rules/rules-model.ts'
export { TonesVoice } from './simulated/io/tones-voice.ts'
export { speechBandOf, toneBandFilter } from './simulated/tone-band-filter.ts'
export { TonesRecogniser } from './simulated/tones-recogniser.ts'
export type {
  HeardWord,
  SpeechEvent,
  SpeechStream,
  SpeechStreamOptions,
  SpeechToText,
} from './speech-to-text/speech-to-text.ts'
export { type WordStream, wordByWord } from './speech-to-text/word-by-word.ts'
export { cached } from './text-to-speech/cached.ts'
export type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech/text-to-speech.ts'
export type { CatalogueVoice, VendorAccess, VendorSettings } from './vendor.ts'
export { type CatalogueEntry, VENDORS, type VendorCatalogue, vendorCatalogue } from './vendors.ts'
