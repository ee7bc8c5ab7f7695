/** User part of the Request-URI that reaches the subject. */
export const SERVICE = 'benchmark234567token'
