export type { ClaudeTraits } from './anthropic/claude-traits.ts'
export type { TextEmbedder } from './embedding/text-embedder.ts'
export { AnthropicMessages, type AnthropicMessagesOptions } from './io/anthropic-messages.ts'
export { AssemblyAiRecogniser, type AssemblyAiRecogniserOptions } from './io/assemblyai-recogniser.ts'
export { AuraVoice, type AuraVoiceOptions } from './io/aura-voice.ts'
export { CartesiaVoice, type CartesiaVoiceOptions } from './io/cartesia-voice.ts'
export { DeepgramFluxRecogniser, type DeepgramFluxRecogniserOptions } from './io/deepgram-flux-recogniser.ts'
export { DeepgramRecogniser, type DeepgramRecogniserOptions } from './io/deepgram-recogniser.ts'
export { ElevenLabsVoice, type ElevenLabsVoiceOptions } from './io/elevenlabs-voice.ts'
export { LocalEspeak, type LocalEspeakOptions } from './io/local-espeak.ts'
export { LocalFlite, type LocalFliteOptions } from './io/local-flite.ts'
export type { ModelBudgets } from './io/model-answering.ts'
export { OpenAiChat, type OpenAiChatOptions } from './io/openai-chat.ts'
export { OpenAiEmbedder, type OpenAiEmbedderOptions } from './io/openai-embedder.ts'
export { OpenAiVoice, type OpenAiVoiceOptions } from './io/openai-voice.ts'
export { TonesVoice, type TonesVoiceOptions } from './io/tones-voice.ts'
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
export { retryAfterMs, ServiceRefusal } from './model-service/model-failure.ts'
export { RulesModel, type RulesPace } from './simulated/rules/rules-model.ts'
export { toneBandFilter } from './simulated/tone-band-filter.ts'
export { TonesRecogniser } from './simulated/tones-recogniser.ts'
export type {
  HeardWord,
  SpeechEvent,
  SpeechFilter,
  SpeechStream,
  SpeechStreamOptions,
  SpeechToText,
} from './speech-to-text/speech-to-text.ts'
export { type WordStream, wordByWord } from './speech-to-text/word-by-word.ts'
export { cached } from './text-to-speech/cached.ts'
export type { VoiceBudgets } from './text-to-speech/service-utterance.ts'
export type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech/text-to-speech.ts'
