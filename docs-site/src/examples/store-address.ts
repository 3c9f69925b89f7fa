/** The address of the store in every sample. A reader replaces it with their own. */
export const storeAddress = 'https://homeward.example';
