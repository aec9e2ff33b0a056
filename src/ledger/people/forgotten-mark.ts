/** Name of the value in `meta` that differs after each person that was forgotten. */
export const forgottenMark = 'people.forgotten'
