export type { ClaudeTraits } from './anthropic/claude-traits.ts'
export { AnthropicMessages, type AnthropicMessagesOptions } from './anthropic/io/anthropic-messages.ts'
export { CartesiaVoice, type CartesiaVoiceOptions } from './cartesia/io/cartesia-voice.ts'
export { AuraVoice, type AuraVoiceOptions } from './deepgram/io/aura-voice.ts'
export { ElevenLabsVoice, type ElevenLabsVoiceOptions } from './elevenlabs/io/elevenlabs-voice.ts'
export type { TextEmbedder } from './embedding/text-embedder.ts'
export { AssemblyAiRecogniser, type AssemblyAiRecogniserOptions } from './io/assemblyai-recogniser.ts'
export { DeepgramFluxRecogniser, type DeepgramFluxRecogniserOptions } from './io/deepgram-flux-recogniser.ts'
export { DeepgramRecogniser, type DeepgramRecogniserOptions } from './io/deepgram-recogniser.ts'
export type { ModelBudgets } from './io/model-answering.ts'
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
export { LocalEspeak, type LocalEspeakOptions } from './local/io/espeak-voice.ts'
export { LocalFlite, type LocalFliteOptions } from './local/io/flite-voice.ts'
export { retryAfterMs, ServiceRefusal } from './model-service/model-failure.ts'
export { OpenAiChat, type OpenAiChatOptions } from './openai/io/openai-chat.ts'
export { OpenAiEmbedder, type OpenAiEmbedderOptions } from './openai/io/openai-embedder.ts'
export { OpenAiVoice, type OpenAiVoiceOptions } from './openai/io/openai-voice.ts'
export { RulesModel, type RulesPace } from './parley/rules/rules-model.ts'
export { TonesVoice, type TonesVoiceOptions } from './simulated/io/tones-voice.ts'
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
export type { VoiceBudgets } from './text-to-speech/service-utterance.ts'
export type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech/text-to-speech.ts'
