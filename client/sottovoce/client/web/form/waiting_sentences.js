/**
 * Sentences about answers that wait or are signed unseen, by language and key: they come with the part for these, and
 * the terminal reads them here.
 */
export const WAITING_SENTENCES = {
  "en": {
    "later_title": "Your answers wait on this device",
    "later_note": "They will be sent after {date}: by themselves if this page is open, or when you open your link again in this browser. Nothing is sent before. Keep your link, and do not clear this browser’s data until then.",
    "error_redeemed": "This link was used before, on another device or before this browser’s data was cleared. Ask the people who invited you for another one.",
    "error_burnt": "The server’s signature is not what this survey promises, and could mark you. This browser does not use your link any more, and nothing was drawn. Tell the people who invited you.",
    "error_signatures": "The server’s signature cannot be read. No answer was sent.",
    "error_invitation": "This link cannot be used any more in this browser for this part of the survey. Nothing was sent.",
    "seen_blind": "Your link is personal, but it is not sent with your answers: no one can look up later which answers are yours. The people who run this survey can see that you opened it, and when answers arrive. Answers sent right away can be matched by time when few people take part.",
    "seen_blind_now": "This survey sends right away: if the people who run it look while you send, they can tell which answers are yours.",
    "explain_later": "Your answers are not sent at once. They wait on this device for a moment within {hours} hours that chance picks. Then open this page again, so that they are sent.",
    "explain_moment": "Your answers are sent {seconds} seconds after you opened this page, or a multiple of that. If you close it first, open it again.",
    "error_keys": "This survey was shown here with different keys, by which people could be told apart. Nothing was sent."
  },
  "ar": {
    "later_title": "إجاباتك تنتظر على هذا الجهاز",
    "later_note": "ستُرسل بعد {date}: من تلقاء نفسها إذا كانت هذه الصفحة مفتوحة، أو عندما تفتح رابطك مرة أخرى في هذا المتصفح. لا يُرسل شيء قبل ذلك. احتفظ برابطك ولا تمسح بيانات هذا المتصفح حتى ذلك الحين.",
    "error_redeemed": "استُخدم هذا الرابط من قبل، على جهاز آخر أو قبل مسح بيانات هذا المتصفح. اطلب رابطًا آخر ممن دعاك.",
    "error_burnt": "توقيع الخادم ليس ما يعد به هذا الاستبيان وقد يميزك عن غيرك. لم يعد هذا المتصفح يستخدم رابطك، ولم يُسحب شيء. أخبر من دعاك.",
    "error_signatures": "لا يمكن قراءة توقيع الخادم. لم تُرسل أي إجابة.",
    "error_invitation": "لم يعد من الممكن استخدام هذا الرابط في هذا المتصفح لهذا الجزء من الاستبيان. لم يُرسل شيء.",
    "seen_blind": "رابطك شخصي، لكنه لا يُرسل مع إجاباتك: لا يستطيع أحد أن يعرف لاحقًا أي الإجابات هي لك. يستطيع من يدير هذا الاستبيان أن يرى أنك فتحته ومتى تصل إجابات. الإجابات التي تُرسل فورًا يمكن ربطها بالوقت عندما يشارك عدد قليل من الناس.",
    "seen_blind_now": "هذا الاستبيان يرسل فورًا: من يديره يستطيع أن يعرف أي إجابة هي لك إذا نظر أثناء الإرسال.",
    "explain_later": "لا تُرسل إجاباتك فورًا. تنتظر على هذا الجهاز لحظة تختارها الصدفة خلال {hours} ساعة. بعد ذلك افتح هذه الصفحة مرة أخرى لتُرسل.",
    "explain_moment": "تُرسل إجاباتك بعد {seconds} ثانية من فتح هذه الصفحة، أو بعد أحد مضاعفاتها. إن أغلقتها قبل ذلك فافتحها مرة أخرى.",
    "error_keys": "عُرض هذا الاستبيان هنا بمفاتيح مختلفة يمكن بها التمييز بين الناس. لم يُرسل شيء."
  },
  "de": {
    "later_title": "Ihre Antworten warten auf diesem Gerät",
    "later_note": "Sie werden nach {date} gesendet: von selbst, wenn diese Seite offen ist, oder wenn Sie Ihren Link wieder in diesem Browser öffnen. Vorher wird nichts gesendet. Behalten Sie Ihren Link, und löschen Sie bis dahin nicht die Daten dieses Browsers.",
    "error_redeemed": "Dieser Link wurde schon benutzt, auf einem anderen Gerät oder bevor die Daten dieses Browsers gelöscht wurden. Bitten Sie die, die Sie eingeladen haben, um einen neuen.",
    "error_burnt": "Die Unterschrift des Servers ist nicht, was diese Umfrage verspricht, und könnte Sie kennzeichnen. Dieser Browser benutzt Ihren Link nicht mehr, und nichts wurde ausgelost. Sagen Sie es denen, die Sie eingeladen haben.",
    "error_signatures": "Die Unterschrift des Servers ist nicht lesbar. Keine Antwort wurde gesendet.",
    "error_invitation": "Dieser Link kann in diesem Browser für diesen Teil der Umfrage nicht mehr benutzt werden. Nichts wurde gesendet.",
    "seen_blind": "Ihr Link ist persönlich, wird aber nicht mit Ihren Antworten gesendet: Niemand kann später nachsehen, welche Antworten von Ihnen sind. Wer diese Umfrage betreibt, kann sehen, dass Sie sie geöffnet haben und wann Antworten ankommen. Antworten, die sofort gesendet werden, lassen sich über die Zeit zuordnen, wenn wenige teilnehmen.",
    "seen_blind_now": "Diese Umfrage sendet sofort: Wer sie betreibt, kann erkennen, welche Antwort von Ihnen ist, wenn er beim Senden zusieht.",
    "explain_later": "Ihre Antworten werden nicht sofort gesendet. Sie warten auf diesem Gerät auf einen zufälligen Zeitpunkt innerhalb von {hours} Stunden. Öffnen Sie diese Seite danach wieder, damit sie gesendet werden.",
    "explain_moment": "Ihre Antworten werden {seconds} Sekunden nach dem Öffnen dieser Seite gesendet oder nach einem Vielfachen davon. Wenn Sie sie vorher schließen, öffnen Sie sie wieder.",
    "error_keys": "Diese Umfrage wurde hier mit verschiedenen Schlüsseln gezeigt, an denen man Menschen unterscheiden könnte. Nichts wurde gesendet."
  },
  "es": {
    "later_title": "Sus respuestas esperan en este dispositivo",
    "later_note": "Se enviarán después de: {date}; por sí solas si esta página está abierta, o cuando abra otra vez su enlace en este navegador. Antes no se envía nada. Guarde su enlace y no borre los datos de este navegador hasta entonces.",
    "error_redeemed": "Este enlace ya se usó, en otro dispositivo o antes de borrar los datos de este navegador. Pida otro a quien le invitó.",
    "error_burnt": "La firma del servidor no es lo que esta encuesta promete y podría marcarle. Este navegador ya no usa su enlace, y no se sorteó nada. Dígaselo a quien le invitó.",
    "error_signatures": "La firma del servidor no se puede leer. No se envió ninguna respuesta.",
    "error_invitation": "Este enlace ya no se puede usar en este navegador para esta parte de la encuesta. No se envió nada.",
    "seen_blind": "Su enlace es personal, pero no va con sus respuestas: nadie puede averiguar después cuáles son las suyas. Quien dirige esta encuesta puede ver que usted la abrió y cuándo llegan respuestas. Las respuestas enviadas enseguida pueden relacionarse por la hora cuando participan pocas personas.",
    "seen_blind_now": "Esta encuesta envía enseguida: quien la dirige puede saber qué respuesta es suya si mira mientras usted envía.",
    "explain_later": "Sus respuestas no salen enseguida. Esperan en este dispositivo un momento que elige el azar dentro de {hours} horas. Después, abra otra vez esta página para que salgan.",
    "explain_moment": "Sus respuestas salen {seconds} segundos después de abrir esta página, o un múltiplo de ese tiempo. Si la cierra antes, ábrala otra vez.",
    "error_keys": "Esta encuesta se mostró aquí con claves distintas, con las que se podría distinguir a las personas. No se envió nada."
  },
  "fr": {
    "later_title": "Vos réponses attendent sur cet appareil",
    "later_note": "Elles seront envoyées après le {date} : toutes seules si cette page est ouverte, ou quand vous rouvrirez votre lien dans ce navigateur. Rien n’est envoyé avant. Gardez votre lien et n’effacez pas les données de ce navigateur d’ici là.",
    "error_redeemed": "Ce lien a déjà été utilisé, sur un autre appareil ou avant que les données de ce navigateur soient effacées. Demandez-en un autre à qui vous a invité.",
    "error_burnt": "La signature du serveur n’est pas ce que cette enquête promet et pourrait vous marquer. Ce navigateur n’utilise plus votre lien, et rien n’a été tiré au sort. Dites-le à qui vous a invité.",
    "error_signatures": "La signature du serveur est illisible. Aucune réponse n’a été envoyée.",
    "error_invitation": "Ce lien ne peut plus être utilisé dans ce navigateur pour cette partie de l’enquête. Rien n’a été envoyé.",
    "seen_blind": "Votre lien est personnel, mais il ne part pas avec vos réponses : personne ne peut retrouver plus tard lesquelles sont les vôtres. Les responsables de cette enquête peuvent voir que vous l’avez ouverte et quand des réponses arrivent. Des réponses envoyées tout de suite peuvent être reliées par l’heure quand peu de gens participent.",
    "seen_blind_now": "Cette enquête envoie tout de suite : ses responsables peuvent savoir quelle réponse est la vôtre s’ils regardent pendant l’envoi.",
    "explain_later": "Vos réponses ne partent pas tout de suite. Elles attendent sur cet appareil un moment choisi par le hasard dans les {hours} heures. Rouvrez ensuite cette page pour qu’elles partent.",
    "explain_moment": "Vos réponses partent {seconds} secondes après l’ouverture de cette page, ou un multiple de cette durée. Si vous la fermez avant, rouvrez-la.",
    "error_keys": "Cette enquête a été montrée ici avec des clés différentes, par lesquelles on pourrait distinguer les gens. Rien n’a été envoyé."
  },
  "hi": {
    "later_title": "आपके उत्तर इस डिवाइस पर रुके हैं",
    "later_note": "वे {date} के बाद भेजे जाएँगे: यह पेज खुला हो तो अपने आप, या इस ब्राउज़र में अपना लिंक फिर खोलने पर। उससे पहले कुछ नहीं भेजा जाता। तब तक लिंक और ब्राउज़र का डेटा रखें।",
    "error_redeemed": "यह लिंक पहले इस्तेमाल हो चुका है, किसी और डिवाइस पर या डेटा मिटाए जाने से पहले। जिसने आपको बुलाया, उससे दूसरा माँगें।",
    "error_burnt": "सर्वर का हस्ताक्षर इस सर्वेक्षण के वादे जैसा नहीं है, और उससे आप पहचाने जा सकते हैं। यह ब्राउज़र आपका लिंक अब इस्तेमाल नहीं करता; कुछ निकाला नहीं गया। जिसने आपको बुलाया, उसे बताएँ।",
    "error_signatures": "सर्वर का हस्ताक्षर पढ़ा नहीं जा सकता। कोई उत्तर नहीं भेजा गया।",
    "error_invitation": "यह लिंक इस ब्राउज़र में सर्वेक्षण के इस भाग के लिए अब नहीं चलता। कुछ नहीं भेजा गया।",
    "seen_blind": "आपका लिंक निजी है, पर उत्तरों के साथ नहीं भेजा जाता: बाद में कोई नहीं देख सकता कि कौन से उत्तर आपके हैं। सर्वेक्षण चलाने वाले देख सकते हैं कि आपने इसे खोला और उत्तर कब आते हैं। कम लोग हों, तो तुरंत भेजे गए उत्तर समय से जोड़े जा सकते हैं।",
    "seen_blind_now": "यह सर्वेक्षण तुरंत भेजता है: इसे चलाने वाले तभी देखें तो जान सकते हैं कि कौन सा उत्तर आपका है।",
    "explain_later": "आपके उत्तर तुरंत नहीं भेजे जाते। वे इस डिवाइस पर {hours} घंटों के भीतर संयोग से चुने क्षण तक रुकते हैं। फिर यह पेज खोलें, ताकि वे भेजे जाएँ।",
    "explain_moment": "आपके उत्तर यह पेज खोलने के {seconds} सेकंड या उसके किसी गुणज बाद भेजे जाते हैं। पहले बंद करें, तो फिर खोलें।",
    "error_keys": "यह सर्वेक्षण यहाँ अलग कुंजियों के साथ दिखाया गया, जिनसे लोग पहचाने जा सकते हैं। कुछ नहीं भेजा गया।"
  },
  "pt": {
    "later_title": "As suas respostas esperam neste dispositivo",
    "later_note": "Serão enviadas depois de: {date}; sozinhas se esta página estiver aberta, ou quando você abrir o seu link outra vez neste navegador. Antes nada é enviado. Guarde o seu link e não apague os dados deste navegador até lá.",
    "error_redeemed": "Este link já foi usado, em outro dispositivo ou antes de os dados deste navegador serem apagados. Peça outro a quem convidou você.",
    "error_burnt": "A assinatura do servidor não é o que esta pesquisa promete e poderia marcar você. Este navegador não usa mais o seu link, e nada foi sorteado. Avise quem convidou você.",
    "error_signatures": "A assinatura do servidor não pode ser lida. Nenhuma resposta foi enviada.",
    "error_invitation": "Este link não pode mais ser usado neste navegador para esta parte da pesquisa. Nada foi enviado.",
    "seen_blind": "O seu link é pessoal, mas não vai com as suas respostas: ninguém pode descobrir depois quais são as suas. Quem conduz esta pesquisa pode ver que você a abriu e quando chegam respostas. Respostas enviadas logo podem ser ligadas pela hora quando poucas pessoas participam.",
    "seen_blind_now": "Esta pesquisa envia logo: quem a conduz pode saber qual resposta é sua se olhar enquanto você envia.",
    "explain_later": "As suas respostas não saem logo. Elas esperam neste dispositivo um momento que o acaso escolhe dentro de {hours} horas. Depois, abra esta página outra vez para que saiam.",
    "explain_moment": "As suas respostas saem {seconds} segundos depois de abrir esta página, ou um múltiplo desse tempo. Se a fechar antes, abra-a outra vez.",
    "error_keys": "Esta pesquisa foi mostrada aqui com chaves diferentes, pelas quais se poderia distinguir as pessoas. Nada foi enviado."
  },
  "zh-Hans": {
    "later_title": "您的回答正在此设备上等待",
    "later_note": "它们将在 {date} 之后发送：此页面打开着就自动发送，或者在您用此浏览器再次打开链接时发送。在此之前不会发送任何内容。请保留您的链接，在那之前不要清除此浏览器的数据。",
    "error_redeemed": "此链接以前用过：在另一台设备上，或在此浏览器的数据被清除之前。请向邀请您的人再要一个。",
    "error_burnt": "服务器的签名不符合本调查的承诺，可能会标记您。此浏览器不再使用您的链接，也没有抽取任何内容。请告诉邀请您的人。",
    "error_signatures": "无法读取服务器的签名。没有发送任何答案。",
    "error_invitation": "此链接在此浏览器中已不能再用于本调查的这一部分。没有发送任何内容。",
    "seen_blind": "您的链接是个人的，但不会随您的回答发送：以后没有人能查出哪份回答是您的。调查的运营者能看到您打开了它，以及回答何时到达。参加的人少时，立即发送的答案可以按时间对上。",
    "seen_blind_now": "本调查立即发送：运营者如果在您发送时查看，就能知道哪个答案是您的。",
    "explain_later": "您的回答不会立即发送。它们会在此设备上等到 {hours} 小时内随机选定的时刻。请在那之后再次打开此页面，以便发送。",
    "explain_moment": "您的回答在打开此页面 {seconds} 秒或其整数倍之后发送。若提前关闭，请再次打开。",
    "error_keys": "本调查在这里以不同的密钥显示过，凭此可以区分人。没有发送任何内容。"
  }
};
