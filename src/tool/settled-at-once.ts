/**
 * Takes the answer of a callback that answers at once. One written without types may give a
 * promise; its rejection must not end the host.
 */
export function settledAtOnce<Answer>(answer: Answer): Answer {
  if (answer instanceof Promise) answer.catch(() => undefined)
  return answer
}
