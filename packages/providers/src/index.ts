export type { TextEmbedder } from './embedding/text-embedder.ts'
export { ProviderError } from './errors.ts'
export type {
  ChatMessage,
  GenerationBrief,
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelSpeech,
  ToolCall,
  ToolDeclaration,
  TransitionTool,
} from './language-model/language-model.ts'
export { retryAfterMs } from './model-service/model-failure.ts'
export { LOCAL_SERVERS } from './openai/local-servers.ts'
export { RulesModel } from './parley/rules/rules-model.ts'
export type { RealtimeModel } from './realtime/realtime-model.ts'
export { activeLevel } from './simulated/alignment.ts'
export { TonesVoice } from './simulated/io/tones-voice.ts'
export { SPEECH_BAND, speechBandOf } from './simulated/tone-band-filter.ts'
export { TonesRecogniser } from './simulated/tones-recogniser.ts'
export type {
  HeardWord,
  SpeechEvent,
  SpeechStream,
  SpeechStreamOptions,
  SpeechToText,
} from './speech-to-text/speech-to-text.ts'
export { wordByWord } from './speech-to-text/word-by-word.ts'
export { SpokenText } from './spoken-text/spoken-text.ts'
export type { SpeechChunk, TextToSpeech } from './text-to-speech/text-to-speech.ts'
export type { CatalogueVoice, KeyCheck, LocalServer, Vendor, VendorAccess, VendorSettings } from './vendor.ts'
export { type CatalogueEntry, VENDORS, type VendorCatalogue, vendorCatalogue } from './vendors.ts'
