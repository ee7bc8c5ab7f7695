export type { ModelIdentity } from '../language-model/language-model.ts'
export { ServiceRefusal } from '../model-service/model-failure.ts'
export type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
